import { DataSource } from 'typeorm';
import { identityKey } from '../../src/platform/text/identity-key';
import { UsernameKeys1767490000000 } from '../../src/migrations/1767490000000-username-keys';
import { useTestApi } from '../support/test-api';

/** What a username was compared by before. */
const oldKey = (username: string) => username.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');

describe('The migration of the keys of usernames', () => {
  const api = useTestApi();
  const migration = new UsernameKeys1767490000000();

  async function migrate(direction: 'up' | 'down'): Promise<void> {
    const runner = api.app.nest.get(DataSource).createQueryRunner();
    try {
      await runner.startTransaction();
      await migration[direction](runner);
      await runner.commitTransaction();
    } finally {
      await runner.release();
    }
  }

  const register = (username: string) => api.user({ username, username_key: oldKey(username) });
  /** Whom a name stands for, by which all users have one password. */
  const whoIs = async (name: string): Promise<number> => {
    const { body } = await api.post('/auth/tokens', { username: name, password: 'a password of a test' });
    return (await api.as({ token: body.data.access_token }).get('/users/profile')).body.data.id;
  };
  const keys = async () => {
    const rows = await api.app.nest
      .get(DataSource)
      .query<{ username: string; username_key: string }[]>('SELECT username, username_key FROM users ORDER BY id');
    return rows.map(({ username, username_key }) => [username, username_key]);
  };

  it('leaves everybody a way to sign in, and a name that is taken to whom it belongs', async () => {
    const users = [];
    for (const username of [
      'Ｗｉｄｅ',
      'ｒoot-admin',
      'root-admin',
      'Ｅarlier',
      'eａrlier',
      'ﬁsher',
      'Straße',
      'René',
      '😀😀😀',
    ])
      users.push(await register(username));
    const gone = await register('ｇone');
    await api.as(gone).delete(`/users/${gone.id}`);

    await migrate('up');

    const ids = new Map(users.map(({ id, username }) => [username, id]));
    for (const { id, username, email } of users) {
      const owner = { 'ｒoot-admin': 'root-admin', eａrlier: 'Ｅarlier' }[username] ?? username;
      expect([username, await whoIs(username), await whoIs(email)]).toEqual([username, ids.get(owner), id]);
    }
    const after = await keys();
    expect(after.filter(([username, key]) => key !== identityKey(username)).map(([username]) => username)).toEqual([
      'ｒoot-admin',
      'eａrlier',
      'ｇone',
    ]);

    await migrate('down');
    expect((await keys()).filter(([username, key]) => key !== oldKey(username))).toEqual([]);
    await migrate('up');
    expect(await keys()).toEqual(after);
  });

  it('need not look at a key that NFKC leaves as it is: for every character such a key stays', () => {
    const characters = Array.from({ length: 0x110000 }, (_, code) => code)
      .filter((code) => code !== 0x40 && (code < 0xd800 || code > 0xdfff))
      .map((code) => String.fromCodePoint(code));
    const wrong = characters.filter((character) => {
      const key = oldKey(character);
      return key.normalize('NFKC') === key && identityKey(character) !== key;
    });

    expect(wrong).toEqual([]);
  });
});
