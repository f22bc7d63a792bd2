import { gzipSync } from 'node:zlib';
import { type RawAnswer, RawConnection } from '../../src/platform/testing';
import type { PreparedRequest } from './prepared-request';
import type { TestApi } from './test-api';

export type Form = 'as it is' | 'chunked' | 'compressed';

/** A request whose client has sent the headers, and withholds the body. */
export class HeldRequest {
  private constructor(
    private readonly connection: RawConnection,
    private readonly body: Buffer,
    private readonly form: Form,
  ) {}

  /** Resolves when the guards have admitted the request: the service asks for the body then. */
  static async begin(
    api: TestApi,
    token: string,
    route: string,
    { ids = [], query = '', body, headers = {} }: PreparedRequest,
    form: Form = 'as it is',
  ): Promise<HeldRequest> {
    const [method, pattern] = route.split(' ');
    const places = [...ids];
    const path = pattern.replace(/:\w+/g, () => String(places.shift()));
    const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
    const sent = form === 'compressed' ? gzipSync(bytes) : bytes;
    const all = {
      Host: '127.0.0.1',
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Expect: '100-continue',
      ...(form === 'chunked' ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': sent.length }),
      ...(form === 'compressed' && { 'Content-Encoding': 'gzip' }),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const connection = await RawConnection.open(api.app.port);
    const { status } = await connection.write(`${method} ${path}${query} HTTP/1.1\r\n${lines.join('')}\r\n`).answer();
    if (status !== 100) throw new Error(`${route} was answered ${status} before its body came`);
    return new HeldRequest(connection, sent, form);
  }

  /** Sends the body, and resolves to the answer. */
  async finish(): Promise<RawAnswer> {
    const { connection, body, form } = this;
    if (form === 'chunked') {
      const middle = Math.floor(body.length / 2);
      for (const part of [body.subarray(0, middle), body.subarray(middle)]) {
        connection
          .write(`${part.length.toString(16)}\r\n`)
          .write(part)
          .write('\r\n');
      }
      connection.write('0\r\n\r\n');
    } else {
      connection.write(body);
    }
    const [, answer] = await connection.answers(2);
    connection.destroy();
    return answer;
  }
}
