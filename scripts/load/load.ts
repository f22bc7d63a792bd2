import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadCaller, signInAll } from './callers';
import { Journal } from './journal';
import { Orders } from './orders';
import type { LoadOptions } from './options';
import { Posts } from './posts';
import { Profiles } from './profiles';
import { Schedule } from './schedule';
import { Sender } from './sender';
import { oneOf, type Subject, type Work } from './work';

/** How often requests that are due are sent, in milliseconds. */
const TICK = 5;
/** Requests that may wait for their answers at once: more would fill the memory of this process. */
const MAX_WAITING = 20_000;

/**
 * Sends requests at a fixed rate, which may rise first, whether or not the service keeps up: a request that couldn't be sent
 * in time still counts from the moment when it was due. Otherwise a service that stands still would seem to have few slow requests.
 */
export class Load {
  private ending = false;
  private waiting = 0;
  private readonly reads: Work[];
  private readonly writes: Work[];

  private constructor(
    private readonly options: LoadOptions,
    readonly journal: Journal,
    private readonly sender: Sender,
    readonly callers: LoadCaller[],
    private readonly subjects: Subject[],
  ) {
    const works = subjects.flatMap((subject) => subject.works);
    this.reads = works.filter(({ isRead }) => isRead);
    this.writes = works.filter(({ isRead }) => !isRead);
  }

  /** Signs in, and finds out what the service has. */
  static async prepare(options: LoadOptions): Promise<Load> {
    const journal = new Journal();
    const sender = new Sender(options.url, options.connections, journal);
    const callers = await signInAll(sender, options);
    const hasPosts = (await callers[0].send({ method: 'GET', path: '/posts?size=1' })).status === 200;
    const orders = await Orders.of(journal, callers);
    // What was sent before the run doesn't count.
    journal.attempts.length = journal.done.length = 0;
    const subjects = [new Profiles(journal), ...(hasPosts ? [new Posts(journal)] : []), ...(orders ? [orders] : [])];
    return new Load(options, journal, sender, callers, subjects);
  }

  /** Resolves when the time is over, or {@link stop} was called, and all requests have been answered. */
  async run(): Promise<void> {
    const { rate, rise, seconds } = this.options;
    const schedule = new Schedule(rate, rise);
    const start = performance.now();
    const total = schedule.dueWithin(seconds);
    for (let sent = 0; sent < total && !this.ending; await sleep(TICK)) {
      const due = Math.min(total, schedule.dueWithin((performance.now() - start) / 1_000));
      for (; sent < due; sent++) this.begin(start + 1_000 * schedule.timeOf(sent));
    }
    while (this.waiting > 0) await sleep(TICK);
  }

  /** Sends no more requests. */
  stop(): void {
    this.ending = true;
  }

  /** Compares what the service has with what it has acknowledged. */
  async verify(): Promise<void> {
    for (const subject of this.subjects) await subject.verify(this.callers);
  }

  close(): void {
    this.sender.close();
  }

  private begin(due: number): void {
    if (this.waiting >= MAX_WAITING) return void this.journal.unsent++;
    this.waiting++;
    const work = this.choose(Math.random() < this.options.reads);
    const fail = (error: unknown) => this.journal.findings.add('wrong', String(error));
    void work
      .run(oneOf(this.callers), due)
      .catch(fail)
      .finally(() => this.waiting--);
  }

  private choose(isRead: boolean): Work {
    const works = isRead || this.writes.length === 0 ? this.reads : this.writes;
    let rest = Math.random() * works.reduce((sum, { weight }) => sum + weight, 0);
    return works.find(({ weight }) => (rest -= weight) < 0) ?? works[0];
  }
}
