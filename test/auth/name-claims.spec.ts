import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '../../src/platform/testing';
import { UnitOfWork } from '../../src/platform/transactions/unit-of-work';
import { NameClaims } from '../../src/resources/users/name-claims';
import { useTestApi } from '../support/test-api';

const LIMIT = 2;
const IP = '192.0.2.77';

describe('A registration that is answered 503 while it is counted', () => {
  const api = useTestApi({ settings: { REGISTRATION_RATE_LIMIT: String(LIMIT) } });

  /** A response that has left with a status. */
  async function answered(status: number): Promise<ServerResponse> {
    let response!: ServerResponse;
    const server = createServer((_request, answer) => {
      response = answer;
      answer.writeHead(status, { Connection: 'close' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await waitFor(() => response.closed);
    server.close();
    return response;
  }

  const register = (res: ServerResponse) =>
    new UnitOfWork(undefined, { ip: IP, res } as never).run(() => api.app.nest.get(NameClaims).register());

  it('counts no more, and one that was answered otherwise does', async () => {
    const [refused, made] = [await answered(503), await answered(201)];
    const claims = api.app.nest.get(NameClaims);
    const giveBack = jest.spyOn(claims['registrations'], 'giveBack');
    for (let index = 0; index < 3 * LIMIT; index++) {
      await register(refused);
      await Promise.all(giveBack.mock.results.map(({ value }) => value as Promise<void>));
    }
    expect(giveBack).toHaveBeenCalledTimes(3 * LIMIT);

    for (let index = 0; index < LIMIT; index++) await register(made);
    await expect(register(made)).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  });
});
