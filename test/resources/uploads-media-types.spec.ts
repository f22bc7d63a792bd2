import { type Client } from '../../src/platform/testing';
import { CHUNK_TYPE } from '../../src/uploads/tus/upload-headers';
import { Fixtures } from '../support/fixtures';
import { requestOf, ROUTES, sendTo } from '../support/requests';
import { useTestApi } from '../support/test-api';

const NOT_TO_BE_SET = 'id created_at updated_at version deleted_at user_id post_id total_amount colour'.split(' ');

describe('The media types of uploads', () => {
  const api = useTestApi();
  let own: Fixtures;
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
  });

  it('are those of chunks alone, and no parameter is in the query', async () => {
    const uploads = ROUTES.filter((route) => /^(POST|PATCH) .*\/uploads(\/:key)?$/.test(route));
    expect(uploads).toHaveLength(2);
    for (const route of uploads) {
      const send = async (type: string, query = '') => {
        const request = { body: Buffer.from('x'), ...(await requestOf(route, own)), query };
        const { status } = await sendTo(admin, route, {
          ...request,
          headers: { ...request.headers, 'Content-Type': type },
        });
        return status;
      };
      const success = route.startsWith('POST') ? 201 : 204;
      expect([route, await send(CHUNK_TYPE)]).toEqual([route, success]);
      for (const type of ['application/json', 'application/octet-stream', 'text/plain', '']) {
        expect([route, type, await send(type)]).toEqual([route, type, 415]);
      }
      for (const name of NOT_TO_BE_SET) {
        expect([route, name, await send(CHUNK_TYPE, `?${name}=1`)]).toEqual([route, name, 400]);
      }
    }
  });
});
