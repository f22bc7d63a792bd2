import type { Socket } from 'node:net';

/** Ways in which a server may refuse a client. */
export const impersonators: Record<string, (client: Socket) => void> = {
  ...Object.fromEntries(
    // https://www.postgresql.org/docs/18/errcodes-appendix.html
    [
      ...['08001', '08004', '08006', '08P01', '28000', '28P01', '3D000', '42501', '42704', '53000', '53200', '53300'],
      ...['53400', '55000', '55P02', '57P01', '57P02', '57P03', '57P04', '57P05', '58000', '58030', 'F0000', 'XX000'],
    ].map((state) => [`refuses with SQLSTATE ${state}`, refuseWith(state)]),
  ),
  'hangs up at once': (client) => client.end(),
  'resets at once': (client) => client.resetAndDestroy(),
  'hangs up after the introduction': (client) => client.once('data', () => client.end()),
  'resets after the introduction': (client) => client.once('data', () => client.resetAndDestroy()),
  'hangs up in the middle of a message': (client) => client.once('data', () => client.end(Buffer.from([69, 0, 0, 0]))),
  'hangs up while it authenticates': (client) =>
    client.once('data', () => client.end(message('R', Buffer.from([0, 0, 0, 5, 1, 2, 3, 4])))),
  'is silent once it has let the client in': (client) =>
    client.once('data', () =>
      client.write(Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))])),
    ),
  'speaks another protocol': (client) => client.once('data', () => client.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
};

/** Refuses a client, like a server that accepts no connections. */
function refuseWith(state: string): (client: Socket) => void {
  return (client) => client.once('data', () => client.end(fatalError(state)));
}

/** The message by which a server ends a connection. */
export function fatalError(state: string): Buffer {
  const fields = ['SFATAL', 'VFATAL', `C${state}`, 'Mabout a secret-of-the-database'].map((field) => `${field}\0`);
  return message('E', Buffer.from(`${fields.join('')}\0`));
}

/** A message of PostgreSQL's protocol: type, length including itself, content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + length.length);
  return Buffer.concat([Buffer.from(type), length, content]);
}
