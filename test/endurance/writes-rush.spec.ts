import { countStatuses, times } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

/** A hundred passwords that are hashed at once take long on a busy machine. */
const PATIENCE = 120_000;
const CLIENTS = 50;

describe('An entity tag', () => {
  const api = useTestApi();

  it('loses no increment of 50 clients at once', async () => {
    const owner = await api.admin();
    const admin = api.as(owner).with({ 'Accept-Encoding': 'identity' });
    const { id } = await new Fixtures(api, owner).product({ stock: 0 });
    const path = `/products/${id}`;
    const increment = async (): Promise<number> => {
      for (let attempts = 1; ; attempts++) {
        const before = await admin.get(path);
        const stock = before.body.data.stock + 1;
        const { status } = await admin.patch(path, { stock }, { 'If-Match': before.headers.get('etag')! });
        if (status === 200) return attempts;
        expect(status).toBe(412);
      }
    };
    const attempts = await Promise.all(times(CLIENTS, increment));

    const after = await admin.get(path);
    expect(after.body.data.stock).toBe(CLIENTS);
    expect(after.headers.get('etag')).toBe('"51"');
    // Otherwise they came one after the other, and nothing was shown.
    expect(Math.max(...attempts)).toBeGreaterThan(1);
  });
});

describe('A registration', () => {
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: String(PATIENCE) } });

  it(
    'gives a username to one of a hundred who ask for it at once, whatever its case',
    async () => {
      const spelling = (index: number) =>
        [...'hypatia'].map((letter, bit) => ((index >> bit) & 1 ? letter.toUpperCase() : letter)).join('');
      const register = (index: number) =>
        api.post('/users', { username: spelling(index), email: `h${index}@example.com`, password: 'long enough' });

      const answers = await Promise.all(times(100, register));

      expect(countStatuses(answers)).toEqual({ 201: 1, 409: 99 });
      const refused = answers.find(({ status }) => status === 409)!;
      expect(refused.body.error).toMatchObject({ code: 'CONFLICT', details: 'username: is already taken' });
    },
    PATIENCE,
  );
});
