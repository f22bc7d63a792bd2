import { addressIn } from '../../src/platform/limits/client-address';
import { networkOf } from '../../src/platform/limits/client-network';
import { useTestApi } from '../support/test-api';

const PORTS = ['', ':5001', ':5002', ':5003'];

describe('The address of a client', () => {
  // Without Redis, in which other tests count the same address meanwhile.
  const limited = { TRUST_PROXY: '1', PUBLIC_RATE_LIMIT: '2', LOGIN_RATE_LIMIT: '2', REDIS_URL: '' };
  const api = useTestApi({ settings: limited });
  const greet = (forwarded: string) => api.get('/public', { 'X-Forwarded-For': forwarded });
  const fail = (forwarded: string) =>
    api.post('/auth/tokens', { username: 'nobody', password: 'wrong' }, { 'X-Forwarded-For': forwarded });
  const statusesOf = async (answers: Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status).sort();

  it.each([
    ['192.0.2.1', PORTS.map((port) => `192.0.2.1${port}`)],
    ['[2001:db8::1]', PORTS.map((port) => `[2001:db8::1]${port}`)],
    ['2001:db8:1::', ['2001:db8:1::1', '2001:DB8:1::2', '[2001:db8:1::3]:443', '2001:db8:1:0:ffff::4']],
    ['::ffff:192.0.2.2', ['::ffff:192.0.2.2', '192.0.2.2', '[::ffff:192.0.2.2]:80', '::FFFF:192.0.2.2']],
  ])('is the same with a port that the proxy adds, and in any notation: %s', async (_address, forms) => {
    expect(await statusesOf(forms.map(greet))).toEqual([200, 200, 429, 429]);
    expect(await statusesOf(forms.map(fail))).toEqual([401, 401, 429, 429]);
  });

  it('is the socket’s where the proxy writes something else', async () => {
    const forms = ['unknown', '_x1', '"_x2"', '1.2.3', '1.2.3.4.5:80', '[::1', `${'9'.repeat(10_000)}:1`];

    expect((await statusesOf(forms.map(greet))).filter((status) => status === 200)).toHaveLength(2);
  });

  it('is what the nearest proxy says, whatever the client has written before', async () => {
    const forms = ['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((made) => `${made}, 192.0.2.9:1234`);

    expect(await statusesOf(forms.map(greet))).toEqual([200, 200, 429]);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['fe80::1%eth0', 'fe80::1', 'fe80::/64'],
    ['[fe80::1%eth0]:80', 'fe80::1', 'fe80::/64'],
    ['::1', '::1', '::1'],
    ['a name', undefined, 'unknown'],
    ['', undefined, 'unknown'],
    ['192.0.2.1:', undefined, 'unknown'],
  ])('in %j is %s, and counts as %s', (text, address, network) => {
    expect(addressIn(text)).toBe(address);
    expect(networkOf(addressIn(text))).toBe(network);
  });
});
