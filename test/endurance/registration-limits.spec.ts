import { countStatuses, times } from '../../src/platform/testing';
import { inTurn, settings, statuses } from '../support/limited-sign-ins';
import { type TestUser, useTestApi } from '../support/test-api';

describe('The limits of sign-ins', () => {
  const api = useTestApi({ settings });
  let addresses = 0;
  const anAddress = () => `198.18.${Math.floor(++addresses / 250)}.${addresses % 250}`;
  const from = (address: string) => api.with({ 'X-Forwarded-For': address });

  describe('of registrations', () => {
    const register = (address: string, index: number) =>
      from(address).post('/users', {
        username: `new-${addresses}-${index}`,
        email: `new-${addresses}-${index}@example.com`,
        password: 'a password of a test',
      });

    it('are for each address, and for those that are valid', async () => {
      const address = anAddress();
      const invalid = await Promise.all(times(20, () => from(address).post('/users', { username: 'x' })));
      const answers = await Promise.all(times(15, (index) => register(address, index)));

      expect(countStatuses(invalid)).toEqual({ 400: 20 });
      expect(countStatuses(answers)).toEqual({ 201: 10, 429: 5 });
      const refused = answers.find(({ status }) => status === 429)!;
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(await register(anAddress(), 20)).toMatchObject({ status: 201 });
    });

    it('are for each site of IPv6 too, of which one subscriber may have 65,536 networks', async () => {
      const network = (number: number) => `2001:db8:7:${number}::1`;
      const answers = [];
      for (const number of times(9, (index) => index + 1)) {
        answers.push(...(await Promise.all(times(10, (index) => register(network(number), 100 * number + index)))));
      }
      expect(countStatuses(answers)).toEqual({ 201: 80, 429: 10 });
      expect(await register('2001:db8:8:1::1', 2_000)).toMatchObject({ status: 201 });
    });

    it('are none for administrators, who bring in whom they like', async () => {
      const admin = api.as(await api.admin());
      const answers = await inTurn(12, (index) =>
        admin.post('/users', {
          username: `brought-${index}`,
          email: `brought-${index}@example.com`,
          password: 'a password of a test',
        }),
      );

      expect(countStatuses(answers)).toEqual({ 201: 12 });
    });
  });

  describe('of changes of names', () => {
    const as = (user: TestUser, address: string) => api.as(user).with({ 'X-Forwarded-For': address });
    const rename = (user: TestUser, address: string, changes: object) =>
      as(user, address).patch(`/users/${user.id}`, changes);

    it('are for each user, and count as registrations of its address', async () => {
      const [asking, other, taken] = [await api.user(), await api.user(), await api.user()];
      const addresses = [anAddress(), anAddress()];
      const answers = await inTurn(9, (index) => {
        const email = index % 2 === 0 ? taken.email : `guess-${index}@example.com`;
        return rename(asking, addresses[index % 2], { email });
      });
      expect(statuses(answers)).toEqual([409, 200, 409, 200, 409, 200, 429, 429, 429]);
      expect(Number(answers[6].headers.get('retry-after'))).toBeGreaterThan(3_000);

      const ofOther = await inTurn(6, (index) => rename(other, addresses[0], { username: `another${index}` }));
      expect(countStatuses(ofOther)).toEqual({ 200: 6 });
      const third = await api.user();
      expect(await rename(third, addresses[0], { username: 'third-name' })).toMatchObject({ status: 200 });
      expect(await rename(third, addresses[0], { username: 'third-again' })).toMatchObject({ status: 429 });
    });

    it('leave alone what is no other name, what is in another version, and administrators', async () => {
      const user = await api.user();
      const same = await inTurn(8, () =>
        rename(user, anAddress(), { username: user.username, email: user.email, name: 'Another' }),
      );
      const stale = await inTurn(8, () =>
        as(user, anAddress()).patch(`/users/${user.id}`, { username: 'stale-name' }, { 'If-Match': '"999"' }),
      );
      const admin = api.as(await api.admin());
      const byAdmin = await inTurn(8, (index) => admin.patch(`/users/${user.id}`, { username: `given${index}` }));

      expect([same, stale, byAdmin].map(countStatuses)).toEqual([{ 200: 8 }, { 412: 8 }, { 200: 8 }]);
    });
  });
});
