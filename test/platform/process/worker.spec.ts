import cluster from 'node:cluster';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '../../../src/platform/process/worker';
import { WorkerMessage } from '../../../src/platform/process/worker-messages';

/** A worker that can serve, closes its channel at once, as a killed one does, and whose end comes later. */
const DYING = `
  process.removeAllListeners('disconnect');
  setInterval(() => undefined, 1_000);
  process.send('${WorkerMessage.READY}', () => process.disconnect());
`;

describe('A connection for a worker that was killed', () => {
  const server = createServer({ pauseOnConnect: true });
  const program = join(mkdtempSync(join(tmpdir(), 'resource-api-worker-')), 'worker.js');
  let worker: Worker;
  let client: Socket;

  beforeAll(async () => {
    writeFileSync(program, DYING);
    cluster.setupPrimary({ exec: program });
    worker = new Worker({});
    await Promise.all([worker.ready(), once(cluster, 'disconnect'), once(server.listen(0, '127.0.0.1'), 'listening')]);
  });

  afterAll(async () => {
    worker.signal('SIGKILL');
    await worker.exit;
    client.destroy();
    server.close();
  });

  it('is kept for another while the end of the worker is not known yet', async () => {
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [connection] = (await once(server, 'connection')) as [Socket];
    const onTaken = jest.fn();
    worker.take(connection, onTaken);
    // The channel tells of the failure in another tick.
    await new Promise(setImmediate);

    expect(worker.untaken).toEqual([connection]);
    expect(worker.isBusy).toBe(true);
    expect(onTaken).not.toHaveBeenCalled();
    connection.destroy();
  });
});
