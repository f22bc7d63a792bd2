import { randomUUID } from 'node:crypto';
import { BullModule, InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Controller, Module, Post } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { type Job, Queue } from 'bullmq';
import { DataSource } from 'typeorm';
import { afterCommit, Creates, Public } from '../../src/platform';
import { waitFor } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { TestApi } from '../support/test-api';

const { REDIS_URL } = process.env;
const withRedis = REDIS_URL ? describe : describe.skip;
/** Other tests use the same server. */
const QUEUE = `audio-${randomUUID()}`;

const done: unknown[] = [];
const completed: [name: string, result: unknown][] = [];
let open: () => void;
const opened = new Promise<void>((resolve) => (open = resolve));
let waits = false;

@Processor(QUEUE)
class AudioConsumer extends WorkerHost {
  constructor(private readonly database: DataSource) {
    super();
  }

  async process(job: Job<{ fails?: boolean; waits?: boolean }>): Promise<object> {
    if (job.data.fails) throw new Error('This file is broken');
    if (job.data.waits) {
      waits = true;
      await opened;
    }
    const [{ limit }] = await this.database.query<{ limit: string }[]>(
      "SELECT current_setting('statement_timeout') AS limit",
    );
    done.push(job.name);
    return { limit };
  }

  @OnWorkerEvent('completed')
  onCompleted({ name, returnvalue }: Job): void {
    completed.push([name, returnvalue]);
  }
}

@Controller('audio')
@Public()
class AudioController {
  constructor(
    @InjectQueue(QUEUE) private readonly queue: Queue,
    @InjectDataSource() private readonly database: DataSource,
  ) {}

  @Post('transcode')
  @Creates(Object)
  async transcode(): Promise<object> {
    const { id } = await this.queue.add('transcode', { file: 'audio.mp3' });
    return { id };
  }

  @Post('committed')
  @Creates(Object)
  async committed(): Promise<object> {
    await this.database.transaction(async (manager) => {
      await manager.query('SELECT 1');
      afterCommit(() => this.queue.add('committed', {}));
    });
    return { id: 1 };
  }
}

function connectionOptions() {
  const { hostname, port, username, password } = new URL(REDIS_URL!);
  return { host: hostname, port: Number(port || 6379), username, password };
}

function audioModule() {
  @Module({
    imports: [BullModule.forRoot({ connection: connectionOptions() }), BullModule.registerQueue({ name: QUEUE })],
    controllers: [AudioController],
    providers: [AudioConsumer],
  })
  class AudioModule {}
  return AudioModule;
}

withRedis('A queue of @nestjs/bullmq', () => {
  const api = new TestApi();

  beforeAll(async () => {
    api.app = await startApp({ imports: [audioModule()], settings: { JOB_STATEMENT_TIMEOUT: '54321' } });
  });

  afterAll(async () => {
    const queue = new Queue(QUEUE, { connection: connectionOptions() });
    await queue.obliterate({ force: true });
    await queue.close();
  });

  const isDone = (name: string) => waitFor(() => completed.some(([known]) => known === name));

  it('does what routes put into it, with the time limit of jobs', async () => {
    expect((await api.post('/audio/transcode')).status).toBe(201);
    await isDone('transcode');
    expect(completed).toEqual([['transcode', { limit: '54321ms' }]]);
  });

  it('gets a job once for requests with the same Idempotency-Key, when it is added after the commit', async () => {
    for (let index = 0; index < 2; index++) {
      expect((await api.post('/audio/committed', undefined, { 'Idempotency-Key': 'one' })).status).toBe(201);
    }
    await isDone('committed');

    expect(done.filter((name) => name === 'committed')).toEqual(['committed']);
  });

  it('keeps the reason of a job that failed', async () => {
    const queue = api.app.nest.get<Queue>(`BullQueue_${QUEUE}`, { strict: false });
    const job = await queue.add('broken', { fails: true });
    await waitFor(async () => (await job.getState()) === 'failed');

    expect((await queue.getJob(job.id!))!.failedReason).toBe('This file is broken');
  });

  it('ends the job that it is doing when the service stops, with its database', async () => {
    const queue = api.app.nest.get<Queue>(`BullQueue_${QUEUE}`, { strict: false });
    await queue.add('last', { waits: true });
    await waitFor(() => waits);
    const stopped = api.app.nest.close();
    open();
    await stopped;

    expect(done).toContain('last');
    await api.app.stop();
  });
});
