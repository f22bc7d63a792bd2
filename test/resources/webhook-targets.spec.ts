import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { NameServer } from '../../src/resources/webhooks/sending/name-server';
import { areNetworks, Networks } from '../../src/resources/webhooks/sending/networks';
import { Failure, send } from '../../src/resources/webhooks/sending/send';
import { wrongTarget } from '../../src/resources/webhooks/sending/target';
import { WebhookReceiver } from '../support/webhook-receiver';

const CLOSED = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1'],
  ...[
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
  ],
  ...['', 'localhost', 'example.com', '1.2.3', '0x7f000001', '8.8.8.8/32', 'fe80::1%eth0'],
];
const OPEN = ['1.1.1.1', '9.255.255.255', '11.0.0.1', '172.15.0.1', '172.32.0.1', '192.167.0.1', '223.255.255.255'];
const OPEN_6 = ['2606:4700::1111', '2a00:1450:4001::1', '2003::1'];

describe('Addresses of webhooks', () => {
  const networks = new Networks();

  it.each(CLOSED)('are closed: %s', (address) => expect(networks.allows(address)).toBe(false));
  it.each([...OPEN, ...OPEN_6])('are open: %s', (address) => expect(networks.allows(address)).toBe(true));

  it('are open in networks of the setting, and nowhere else', () => {
    const opened = new Networks('10.1.0.0/16, fd00:1::/64');
    const allowed = ['10.1.2.3', 'fd00:1::5', '10.2.0.1', 'fd00:2::1', '127.0.0.1'].filter((one) => opened.allows(one));
    expect(allowed).toEqual(['10.1.2.3', 'fd00:1::5']);
  });

  it.each([
    ['10.0.0.0/8', true],
    ['10.0.0.0/8,fd00::/8', true],
    ['10.0.0.0', false],
    ['10.0.0.0/33', false],
    ['fd00::/129', false],
    ['example.com/8', false],
    ['10.0.0.0/8;fd00::/8', false],
  ])('as a setting: %s is %s', (text, good) => expect(areNetworks(text)).toBe(good));
});

describe('URLs of webhooks', () => {
  const networks = new Networks();
  const wrong = (url: string, plain = false) => wrongTarget(url, { networks, plain });

  it.each([
    ...['https://example.com/', 'https://example.com:8443/a?b=c', 'https://1.1.1.1/', 'https://[2606:4700::1111]/'],
    'https://example.com:443/',
  ])('may be %s', (url) => expect(wrong(url)).toBeUndefined());

  it.each([
    ...['http://example.com/', 'ftp://example.com/', 'https://a:b@example.com/', 'https://a@example.com/'],
    ...['https://example.com:22/', 'https://example.com:25/', 'https://example.com:80/', 'https://example.com/#a'],
    ...['https://127.0.0.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://0177.0.0.1/', 'https://[::1]/'],
    ...['https://[::ffff:10.0.0.1]/', 'https://169.254.169.254/latest', 'https://[fd00:ec2::254]/', 'no URL'],
  ])('must not be %s', (url) => expect(wrong(url)).toMatch(/^must /));

  it('may begin with http:// where that is allowed', () => {
    expect(wrong('http://example.com/', true)).toBeUndefined();
    expect(wrong('http://example.com:443/', true)).toMatch(/port/);
  });
});

/** A name whose addresses a test chooses, one answer after the other. */
class FakeNames extends NameServer {
  asked = 0;

  constructor(private readonly answers: string[][]) {
    super();
  }

  override addressesOf(): Promise<string[]> {
    return Promise.resolve(this.answers[this.asked++] ?? []);
  }
}

describe('Sending a webhook', () => {
  let receiver: WebhookReceiver;
  beforeAll(async () => (receiver = await WebhookReceiver.start()));
  beforeEach(() => void (receiver.received.length = 0));
  afterAll(() => receiver.stop());

  const opened = '127.0.0.0/30';
  const to = (url: string, names = new NameServer(), { patience = 10_000, networks = opened } = {}) =>
    send(
      { url, headers: {}, body: '{}' },
      { rules: { networks: new Networks(networks), plain: true }, names, patience },
    );

  it('connects to the address that it has found, once', async () => {
    const names = new FakeNames([['127.0.0.1']]);
    expect(await to(`http://receiver.example.com:${receiver.port}/`, names)).toEqual({ status: 204, failure: null });
    expect(names.asked).toBe(1);
    expect(receiver.received[0].headers).toMatchObject({ host: `receiver.example.com:${receiver.port}` });
  });

  it('refuses a name whose address has changed to a closed one since the last attempt', async () => {
    const names = new FakeNames([['127.0.0.1'], ['127.0.0.5']]);
    const url = `http://rebound.example.com:${receiver.port}/`;
    expect((await to(url, names)).failure).toBeNull();
    expect(await to(url, names)).toEqual({ status: null, failure: Failure.ADDRESS });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([[['127.0.0.1', '10.0.0.1']], [['::ffff:10.0.0.1']], [['169.254.169.254']]])(
    'refuses a name with the addresses %j',
    async (addresses) => {
      const outcome = await to(`http://mixed.example.com:${receiver.port}/`, new FakeNames([addresses]));
      expect(outcome).toEqual({ status: null, failure: Failure.ADDRESS });
      expect(receiver.received).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '[::1]', 'localhost', 'a.localhost', '0x7f.1', '2130706433'])(
    'refuses %s without a setting that opens it',
    async (host) => {
      const outcome = await to(`http://${host}:${receiver.port}/`, new NameServer(), { networks: '' });
      expect(outcome).toEqual({ status: null, failure: Failure.ADDRESS });
    },
  );

  it('tells a name without an address', async () => {
    expect(await to('http://nothing.example.com/', new FakeNames([[]]))).toEqual({
      status: null,
      failure: Failure.DNS,
    });
  });

  it('tells a connection that is refused, and one that ends without an answer', async () => {
    const server = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await to(url)).toEqual({ status: null, failure: Failure.CONNECTION });
    await new Promise((resolve) => server.close(resolve));
    expect(await to(url)).toEqual({ status: null, failure: Failure.CONNECTION });
    expect((await to(url.replace('http:', 'https:'))).failure).toBe(Failure.CONNECTION);
  });

  it('tells a receiver that speaks no TLS, or has a certificate that nobody vouches for', async () => {
    const url = `https://127.0.0.1:${receiver.port}/`;
    expect((await to(url)).failure).toBe(Failure.TLS);
  });

  it('ends an attempt when its time is over, whether the head or the body is late', async () => {
    receiver.answer = () => undefined;
    expect(await to(receiver.url, new NameServer(), { patience: 1_000 })).toEqual({
      status: null,
      failure: Failure.TIMEOUT,
    });
    receiver.answer = (_received, response) => void response.writeHead(200).write('a');
    expect(await to(receiver.url, new NameServer(), { patience: 1_000 })).toEqual({ status: 200, failure: null });
    receiver.answer = () => 204;
  });

  it('reads four KiB of an answer, and closes the connection then', async () => {
    const server = createServer((_request, response) => {
      const more = () => void (response.write('x'.repeat(1_024)) ? setImmediate(more) : response.once('drain', more));
      response.writeHead(200);
      more();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
    expect(await to(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).toEqual({
      status: 200,
      failure: null,
    });
    await closed;
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    ['interim answers', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
    ['the answer 100', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['empty lines', '\r\n'],
    ['lines of a head', 'HTTP/1.1 200 OK\r\n', 'A: b\r\n'],
    ['a piece with extensions', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1', ';a=b'],
  ])('closes a connection that brings %s without an end', async (_what, first, next = first) => {
    let written = 0;
    const server = createTcpServer((socket) => {
      const some = next.repeat(1_000);
      const more = () => {
        if (!socket.writable) return;
        written += some.length;
        if (socket.write(some)) setImmediate(more);
        else socket.once('drain', more);
      };
      socket.on('error', () => socket.destroy()).once('data', () => (socket.write(first), more()));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { failure } = await to(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    // A head that has come is an answer, whatever follows.
    expect(failure).toBe(first.endsWith('\r\n1') ? null : Failure.CONNECTION);
    await new Promise((resolve) => server.close(resolve));
    // What fits into the buffers of both systems.
    expect(written).toBeLessThan(32 * 1_024 * 1_024);
  });
});
