import { connect, type Socket } from 'node:net';
import { type Attendant, ConnectionAcceptor } from '../../../src/platform/process/connection-acceptor';
import { times, waitFor } from '../../../src/platform/testing';

const CROWD = '127.0.0.1';
const STRANGER = '127.0.9.9';
const MAX_WAITING = 5;

/** Takes a connection only when it is told to. */
class SlowAttendant implements Attendant {
  readonly taken: Socket[] = [];
  private onTaken?: () => void;

  get isBusy(): boolean {
    return this.onTaken !== undefined;
  }

  take = (connection: Socket, onTaken: () => void): void => {
    this.taken.push(connection);
    this.onTaken = onTaken;
  };

  goOn(): void {
    const { onTaken } = this;
    this.onTaken = undefined;
    onTaken?.();
  }

  get addresses(): (string | undefined)[] {
    return this.taken.map(({ remoteAddress }) => remoteAddress);
  }
}

describe('Connections that come faster than they are taken', () => {
  let acceptor: ConnectionAcceptor;
  let attendant: SlowAttendant;
  let port: number;
  let clients: Socket[];

  const waiting = () => (acceptor as unknown as { queue: { size: number } }).queue.size;
  /** Connects so many clients, and waits until each of them waits, was taken, or was closed. */
  const connectFrom = async (localAddress: string, count: number): Promise<Socket[]> => {
    const all = times(count, () => connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined));
    clients.push(...all);
    const closed = () => clients.filter((client) => client.closed).length;
    await waitFor(() => attendant.taken.length + waiting() + closed() === clients.length);
    return all;
  };

  beforeEach(async () => {
    acceptor = new ConnectionAcceptor(MAX_WAITING);
    attendant = new SlowAttendant();
    clients = [];
    acceptor.add(attendant);
    port = await acceptor.open(0, '127.0.0.1');
  });

  afterEach(async () => {
    await acceptor.close();
    for (const connection of [...clients, ...attendant.taken]) connection.destroy();
  });

  it('wait for their turn, and are passed on one by one', async () => {
    await connectFrom(CROWD, 3);
    expect(attendant.taken).toHaveLength(1);

    attendant.goOn();
    expect(attendant.taken).toHaveLength(2);
    attendant.goOn();
    expect(attendant.taken).toHaveLength(3);
  });

  it('let a stranger pass', async () => {
    await connectFrom(CROWD, 5);
    await connectFrom(STRANGER, 1);
    attendant.goOn();
    attendant.goOn();

    expect(attendant.addresses).toContain(STRANGER);
  });

  it('leave a stranger a place, when too many of them wait', async () => {
    const crowd = await connectFrom(CROWD, 1 + MAX_WAITING);
    const [stranger] = await connectFrom(STRANGER, 1);

    expect(waiting()).toBe(MAX_WAITING);
    await waitFor(() => crowd.filter(({ closed }) => closed).length === 1);
    expect(stranger.closed).toBe(false);
    const [late] = await connectFrom(CROWD, 1);
    expect(late.closed).toBe(true);
  });

  it('go to whoever takes them, while another takes none', async () => {
    const other = new SlowAttendant();
    acceptor.add(other);
    clients.push(...times(4, () => connect({ port, host: '127.0.0.1' })));
    for (const count of [1, 2, 3]) {
      await waitFor(() => other.taken.length === count);
      other.goOn();
    }

    expect(attendant.taken).toHaveLength(1);
    for (const connection of other.taken) connection.destroy();
  });

  it('are all passed on when the port is closed', async () => {
    await connectFrom(CROWD, 3);
    await acceptor.close();

    expect(attendant.taken).toHaveLength(3);
  });
});
