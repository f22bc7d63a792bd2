import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashing } from '../../src/platform/auth/passwords';
import { type Answer, countStatuses, query, RawConnection, times, waitFor } from '../../src/platform/testing';
import { SignInLimits } from '../../src/resources/tokens/sign-in-limits';
import { DELAY, inTurn, settings, statuses } from '../support/limited-sign-ins';
import { type TestUser, useTestApi } from '../support/test-api';

describe('The limits of sign-ins', () => {
  const api = useTestApi({ settings });
  let addresses = 0;
  const anAddress = () => `198.18.${Math.floor(++addresses / 250)}.${addresses % 250}`;
  const from = (address: string) => api.with({ 'X-Forwarded-For': address });
  const signIn = (address: string, username: string, password = 'a wrong guess') =>
    from(address).post('/auth/tokens', { username, password });

  /** An account that was attacked from so many addresses that attempts at it have to wait. */
  const attack = async (username: string) => {
    for (let round = 0; round < 12; round++) {
      expect(await signIn(anAddress(), username)).toMatchObject({ status: 401 });
    }
  };

  /** All that a caller can tell one answer from another by, but for the time. */
  const visible = ({ status, headers, body }: Answer) => ({
    status,
    body: { ...body.error, timestamp: undefined },
    challenge: headers.get('www-authenticate'),
    waits: headers.has('retry-after'),
  });

  describe('for an account and an address', () => {
    it('are no way to find out which e-mail address belongs to a username', async () => {
      const [victim, other] = [await api.user(), await api.user()];
      const absent = 'nobody-at-all@example.com';
      const exhausting = anAddress();
      expect(statuses(await inTurn(6, () => signIn(exhausting, victim.username)))).toEqual([
        401, 401, 401, 401, 401, 429,
      ]);

      const mails = [victim.email, other.email, absent];
      for (const [address, names] of [
        [exhausting, mails],
        [anAddress(), [...mails, other.username, 'nobody-at-all']],
      ] as const) {
        const answers = await Promise.all(names.map((name) => inTurn(6, () => signIn(address, name))));
        for (const one of answers) expect(one.map(visible)).toEqual(answers[0].map(visible));
      }
    });

    it('count all spellings of a name together', async () => {
      const { username } = await api.user();
      const address = anAddress();
      const spellings = [username, username.toUpperCase(), ` ${username}`, `${username} `, username, username];

      const answers = await inTurn(6, (index) => signIn(address, spellings[index]));
      expect(statuses(answers)).toEqual([401, 401, 401, 401, 401, 429]);
    });
  });

  describe('for an address', () => {
    it('stop a few guesses at each of many accounts, be they there or not', async () => {
      const victims = await Promise.all(times(3, () => api.user()));
      const names = times(40, (index) => victims[index]?.username ?? `nobody${index}`);
      const address = anAddress();
      const answers = await Promise.all(names.map((name) => signIn(address, name)));

      expect(countStatuses(answers)).toEqual({ 401: 30, 429: 10 });
      const refused = await signIn(address, victims[0].username, victims[0].password);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(await signIn(anAddress(), victims[0].username, victims[0].password)).toMatchObject({ status: 201 });
    });

    it('count a whole network of IPv6 as one', async () => {
      const answers = await inTurn(31, (index) => signIn(`2001:db8:5::${index + 1}`, `nobody-of-6-${index}`));

      expect(countStatuses(answers)).toEqual({ 401: 30, 429: 1 });
      expect(await signIn('2001:db8:5:1::1', 'nobody-of-6')).toMatchObject({ status: 401 });
    });

    it('do not count what succeeds, so that a whole office signs in from one address', async () => {
      const users = await Promise.all(times(4, () => api.user()));
      const address = anAddress();

      const answers = await inTurn(40, (index) => {
        const { username, password } = users[index % users.length];
        return signIn(address, username, password);
      });
      expect(countStatuses(answers)).toEqual({ 201: 40 });
    });
  });

  describe('for an address, of what never gets to the password', () => {
    const LIMIT = 30;
    const IN_QUEUE = 100;
    let free = () => undefined as void;
    let held: Promise<unknown>[];
    let user: TestUser;

    /** Takes the places of all hashes, and those in the queue by one for each of many networks. */
    beforeEach(async () => {
      // Its own password is hashed before.
      user = await api.user();
      const freed = new Promise<void>((resolve) => (free = resolve));
      const all = Math.min(availableParallelism(), 3) + IN_QUEUE;
      held = times(all, (index) => hashing.run(() => freed, undefined, [`network ${index}`]));
    });
    afterEach(async () => {
      free();
      await Promise.all(held);
    });

    it('count no sign-in that finds too many waiting', async () => {
      const { username, password } = user;
      const address = anAddress();
      const refused = await inTurn(LIMIT + 5, () => signIn(address, username, password));
      expect(countStatuses(refused)).toEqual({ 503: LIMIT + 5 });
      free();

      expect(await signIn(address, username, password)).toMatchObject({ status: 201 });
    });

    it('count no sign-in whose client leaves the queue', async () => {
      const { username, password } = user;
      const address = anAddress();
      const body = JSON.stringify({ username, password });
      const request =
        `POST /api/v1/auth/tokens HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      // Only those at work go on: the queue is for the clients that are to leave it.
      free();
      await Promise.all(held);
      const freed = new Promise<void>((resolve) => (free = resolve));
      held = times(Math.min(availableParallelism(), 3), () => hashing.run(() => freed));
      const hits = () => api.app.nest.get(SignInLimits)['addresses'].peek(address);
      const connections = await Promise.all(times(LIMIT, () => RawConnection.open(api.app.port)));
      for (const connection of connections) connection.write(request);
      await waitFor(async () => (await hits()).hits === LIMIT);
      for (const connection of connections) connection.reset();
      await waitFor(async () => (await hits()).hits === 0);
      free();

      expect(await signIn(address, username, password)).toMatchObject({ status: 201 });
    });
  });

  describe('for a site of IPv6', () => {
    const network = (site: number, number: number) => `2001:db8:${site}:${number}::1`;

    it('are as much as for eight of its networks, of which one subscriber may have 65,536', async () => {
      const answers = [];
      for (const number of times(30, (index) => index)) {
        const guess = (index: number) => signIn(network(8, number), `nobody-${number}-${index}`, 'wrong');
        answers.push(...(await Promise.all(times(10, guess))));
      }
      expect(countStatuses(answers)).toEqual({ 401: 240, 429: 60 });
      expect(await signIn(network(9, 1), 'nobody-1', 'wrong')).toMatchObject({ status: 401 });
    });

    it('count no sign-in that succeeds', async () => {
      const { username, password } = await api.user();
      const answers = await inTurn(3, (index) => signIn(network(7, index), username, password));
      expect(countStatuses(answers)).toEqual({ 201: 3 });
      expect((await api.app.nest.get(SignInLimits)['sites'].peek('2001:db8:7::/48')).hits).toBe(0);
    });
  });

  describe('for an account, from whatever addresses', () => {
    const owner = (user: TestUser, address: string) => signIn(address, user.username, user.password);

    it('let its owner in after a wait of less than a minute, while the attack goes on', async () => {
      const user = await api.user();
      await attack(user.username);
      const home = anAddress();
      const told = await owner(user, home);
      expect(told).toMatchObject({ status: 429 });
      expect(told.headers.get('retry-after')).toBe(String(DELAY));

      const until = performance.now() + DELAY * 1_000;
      while (performance.now() < until) {
        // From new addresses, as one that has waited may guess again.
        const guesses = await Promise.all(times(20, () => signIn(anAddress(), user.username)));
        expect(countStatuses(guesses)).toEqual({ 429: 20 });
        await sleep(250);
      }
      // By the second, as the header has it.
      await sleep(1_000);
      expect(await owner(user, home)).toMatchObject({ status: 201 });
    });

    it('let one guess of each address pass for each wait', async () => {
      const user = await api.user();
      await attack(user.username);
      const address = anAddress();
      const guess = () => signIn(address, user.username);
      await guess();
      await sleep((DELAY + 1) * 1_000);

      expect(countStatuses(await Promise.all(times(10, guess)))).toEqual({ 401: 1, 429: 9 });
      expect(await owner(user, address)).toMatchObject({ status: 429 });
    });

    it('are the same for a name that nobody has, and for no other account', async () => {
      const other = await api.user();
      await attack('nobody-is-attacked');

      expect(visible(await signIn(anAddress(), 'nobody-is-attacked'))).toMatchObject({ status: 429, waits: true });
      expect(await owner(other, anAddress())).toMatchObject({ status: 201 });
    });
  });

  describe('while the database fails', () => {
    /** As if it were away: what needs the table fails, and nothing else. */
    const without = async <T>(table: string, work: () => Promise<T>): Promise<T> => {
      await query(api.app.databaseUrl, `ALTER TABLE ${table} RENAME TO ${table}_away`);
      try {
        return await work();
      } finally {
        await query(api.app.databaseUrl, `ALTER TABLE ${table}_away RENAME TO ${table}`);
      }
    };

    it.each(['users', 'sessions'])('count no attempt that misses the table %s', async (table) => {
      const { username, password } = await api.user();
      const address = anAddress();
      const failed = await without(table, () => inTurn(31, () => signIn(address, username, password)));
      expect(countStatuses(failed)).toEqual({ 500: 31 });

      expect(await signIn(address, username, password)).toMatchObject({ status: 201 });
      expect(await signIn(address, username)).toMatchObject({ status: 401 });
    });

    it('count no registration and no other name', async () => {
      const user = await api.user();
      const [address, another] = [anAddress(), anAddress()];
      const password = 'a password of a test';
      const register = (username: string) =>
        from(address).post('/users', { username, email: `${username}@example.com`, password });
      const rename = (username: string) =>
        api.as(user).with({ 'X-Forwarded-For': another }).patch(`/users/${user.id}`, { username });
      const refuse = 'CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE; END$$';
      await query(api.app.databaseUrl, refuse);
      await query(
        api.app.databaseUrl,
        'CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON users EXECUTE FUNCTION refuse()',
      );
      const failed = await inTurn(11, (index) => register(`failing-${index}`));
      const renamed = await inTurn(7, (index) => rename(`failing-too-${index}`));
      await query(api.app.databaseUrl, 'DROP TRIGGER refuse ON users');

      expect([failed, renamed].map(countStatuses)).toEqual([{ 500: 11 }, { 500: 7 }]);
      expect(await register('not-failing')).toMatchObject({ status: 201 });
      expect(await rename('not-failing-too')).toMatchObject({ status: 200 });
    });
  });
});
