import { useTestApi } from '../support/test-api';

describe.each([
  ['true', 200],
  ['false', 404],
])('With API_DOCS=%s', (API_DOCS, status) => {
  const api = useTestApi({ settings: { API_DOCS } });

  it.each(['//docs', '//docs/json', '//docs/v2/json'])(`%s is ${status}`, async (path) => {
    const answer = await api.get(path);

    expect(answer.status).toBe(status);
    if (status === 404) expect(answer.body.error.code).toBe('NOT_FOUND');
  });

  it('the API itself is there', async () => {
    expect(await api.get('/products')).toMatchObject({ status: 200 });
  });
});
