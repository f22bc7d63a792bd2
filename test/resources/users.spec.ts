import { PasswordsOfDeletedUsers1767520000000 } from '../../src/migrations/1767520000000-passwords-of-deleted-users';
import { User } from '../../src/resources/users/user.entity';
import { type TestUser, useTestApi } from '../support/test-api';

describe('/users', () => {
  const api = useTestApi();
  let ada: TestUser;
  let alan: TestUser;
  let admin: TestUser;

  beforeAll(async () => {
    ada = await api.user({ username: 'Ada', name: 'Ada Lovelace' });
    alan = await api.user({ username: 'alan', name: 'Alan Turing' });
    admin = await api.admin({ username: 'grace' });
  });

  const aNewUser = (username: string, more: object = {}) => ({
    username,
    email: `${username}@example.com`,
    password: 'long enough',
    ...more,
  });

  it('registers anyone, and shows the new user its own attributes', async () => {
    const answer = await api.post('/users', aNewUser('barbara', { name: 'Barbara Liskov' }));

    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/api/v1/users/${answer.body.data.id}`);
    expect(answer.body).toEqual({
      code: 201,
      message: 'Created',
      data: {
        id: expect.any(Number),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: answer.body.data.created_at,
        version: 1,
        username: 'barbara',
        email: 'barbara@example.com',
        name: 'Barbara Liskov',
        image: null,
        status: 'ACTIVE',
        roles: ['USER'],
      },
      timestamp: expect.any(Number),
    });
  });

  it('lets only an administrator set status and roles', async () => {
    const wish = { roles: ['ADMIN'] };

    expect(await api.post('/users', aNewUser('eve', wish))).toMatchObject({ status: 403 });
    expect(await api.as(ada).post('/users', aNewUser('eve', wish))).toMatchObject({ status: 403 });
    expect(await api.as(ada).patch(`/users/${ada.id}`, { status: 'ACTIVE' })).toMatchObject({ status: 403 });
    expect(await api.as(admin).post('/users', aNewUser('margaret', wish))).toMatchObject({
      status: 201,
      body: { data: { roles: ['ADMIN'] } },
    });
  });

  it('tells two users with one e-mail address apart from nobody', async () => {
    const answer = await api.post('/users', aNewUser('ada2', { email: ada.email.toUpperCase() }));

    expect(answer).toMatchObject({ status: 409, body: { error: { details: 'email: is already taken' } } });
  });

  it('takes the composed and the decomposed form of a name for one', async () => {
    expect(await api.post('/users', aNewUser('re\u0301ne', { email: 'rene1@example.com' }))).toMatchObject({
      status: 201,
      body: { data: { username: 'r\u00e9ne' } },
    });
    expect(await api.post('/users', aNewUser('R\u00c9NE', { email: 'rene2@example.com' }))).toMatchObject({
      status: 409,
    });
  });

  it('takes a name in full-width or otherwise compatible letters for the same name', async () => {
    const { password } = aNewUser('root-admin');
    expect(await api.post('/users', aNewUser('root-admin'))).toMatchObject({ status: 201 });

    for (const [index, username] of [
      'ｒoot-admin',
      'ＲＯＯＴ－ＡＤＭＩＮ',
      'ⓡoot-admin',
      '𝐫oot-admin',
      'rºot-admin',
    ].entries()) {
      const answer = await api.post('/users', aNewUser(username, { email: `root${index}@example.com` }));

      expect(answer).toMatchObject({ status: 409, body: { error: { details: 'username: is already taken' } } });
      expect(await api.post('/auth/tokens', { username, password })).toMatchObject({ status: 201 });
    }
  });

  it.each([
    ['a zero-width space', 'root\u200badmin'],
    ['nothing but zero-width spaces', '\u200b\u200b\u200b'],
    ['a change of direction', '\u202enimda-toor'],
    ['a soft hyphen', 'root\u00adadmin'],
    ['Hangul fillers', '\u3164\u3164\u3164'],
    ['half-width Hangul fillers', '\uffa0\uffa0\uffa0'],
    ['tags', 'root\u{e0061}\u{e0062}'],
    ['variation selectors', 'root\ufe0f'],
    ['Braille blanks', '\u2800\u2800\u2800'],
    ['a blank note', 'root\u{1d159}'],
    ['a grapheme joiner', 'ro\u034fot'],
    ['a no-break space', 'root\u00a0admin'],
    ['a line separator', 'root\u2028admin'],
    ['two blanks in a row', 'root  admin'],
    ['a mark without a letter', '\u0301root'],
    ['a second dot on an i', 'root-admi\u0307n'],
    ['a private character', 'root\ue000'],
    ['Cyrillic letters among Latin ones', 'r\u043e\u043et-admin'],
    ['a Greek letter among Latin ones', 'ro\u03bft-admin'],
    ['an Armenian letter among Latin ones', 'r\u0585ot-admin'],
    ['a letter of a script that is not in use', 'ᚠᚢᚦ'],
    ['an @ of another width', 'root＠example'],
  ])('refuses a username that people could take for another: %s', async (_name, username) => {
    const user = await api.user();
    const email = 'confusable@example.com';

    for (const answer of [
      await api.post('/users', { ...aNewUser('confusable'), username }),
      await api.as(user).put(`/users/${user.id}`, { username, email }),
      await api.as(user).patch(`/users/${user.id}`, { username }),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { fields: [{ field: 'username', rule: 'script' }] } },
      });
    }
  });

  it.each([
    'ada-99',
    'René',
    'Łukasz K.',
    'Nguyễn',
    'Иван',
    'Ελένη',
    'משה',
    'محمد',
    'आदित्य',
    'สมชาย',
    '山田たろう',
    'ラーメンbot',
    '김철수A',
    '王小明',
    '😀😀😀',
    '---',
  ])('takes a username in the script of any language: %s', async (username) => {
    const email = `${Buffer.from(username).toString('hex')}@example.com`;
    expect(await api.post('/users', aNewUser(username, { email }))).toMatchObject({
      status: 201,
      body: { data: { username: username.normalize('NFC') } },
    });
  });

  it('shows e-mail and roles to the user itself and to administrators only', async () => {
    const seenBy = async (caller: TestUser) => (await api.as(caller).get(`/users/${ada.id}`)).body.data;

    expect(await seenBy(ada)).toMatchObject({ email: ada.email, roles: ['USER'] });
    expect(await seenBy(admin)).toMatchObject({ email: ada.email, roles: ['USER'] });
    expect(Object.keys(await seenBy(alan)).join()).toBe('id,created_at,updated_at,version,username,name,image,status');
  });

  it('does not let private attributes out through search, sort or fields', async () => {
    const asAlan = api.as(alan);

    expect((await asAlan.get(`/users?search=${ada.email}`)).body.pagination.total).toBe(0);
    expect((await api.as(admin).get(`/users?search=${ada.email}`)).body.pagination.total).toBe(1);
    expect(await asAlan.get('/users?sort=email')).toMatchObject({ status: 400 });
    expect(await asAlan.get('/users?fields=id,email')).toMatchObject({ status: 400 });
    expect(await asAlan.get(`/users/${ada.id}?fields=roles`)).toMatchObject({ status: 400 });
    expect(await asAlan.get(`/users/${alan.id}?fields=email`)).toMatchObject({ body: { data: { email: alan.email } } });
    expect(await api.as(admin).get('/users?sort=email&fields=email')).toMatchObject({ status: 200 });
  });

  it('answers the profile of the caller', async () => {
    expect(await api.as(ada).get('/users/profile')).toMatchObject({
      status: 200,
      body: { data: { id: ada.id, username: 'Ada', email: ada.email } },
    });
    expect(await api.get('/users/profile')).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
  });

  it('replaces a user: what is left out takes its default, the password stays', async () => {
    const user = await api.user({ username: 'replaced', name: 'Before' });

    const answer = await api.as(user).put(`/users/${user.id}`, { username: 'after', email: 'after@example.com' });

    expect(answer).toMatchObject({ status: 200, body: { data: { username: 'after', name: null, status: 'ACTIVE' } } });
    expect(await api.post('/auth/tokens', { username: 'after', password: user.password })).toMatchObject({
      status: 201,
    });
  });

  it('changes only what a PATCH names', async () => {
    const user = await api.user({ name: 'Before' });

    expect(await api.as(user).patch(`/users/${user.id}`, { name: null })).toMatchObject({
      status: 200,
      body: { data: { name: null, username: user.username, email: user.email } },
    });
    expect(await api.as(user).patch(`/users/${user.id}`, { username: null })).toMatchObject({ status: 400 });
    expect(await api.as(user).patch(`/users/${user.id}`, {})).toMatchObject({ status: 200 });
  });

  it('leaves updated_at alone when nothing changes, and moves it when something does', async () => {
    const user = await api.user({ name: 'Same' });
    const before = (await api.as(user).get(`/users/${user.id}`)).body.data;

    expect((await api.as(user).patch(`/users/${user.id}`, { name: 'Same' })).body.data).toEqual(before);
    const after = (await api.as(user).patch(`/users/${user.id}`, { name: 'Other' })).body.data;
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  });

  it.each(['put', 'patch', 'delete'] as const)(
    'refuses %s by another user, and answers 404 before that',
    async (method) => {
      const body = method === 'delete' ? undefined : { username: 'taken-over', email: 'x@example.com' };

      expect(await api.as(alan)[method](`/users/${ada.id}`, body)).toMatchObject({
        status: 403,
        body: { error: { code: 'FORBIDDEN' } },
      });
      expect(await api.as(alan)[method]('/users/999999', body)).toMatchObject({
        status: 404,
        body: { error: { code: 'USER_NOT_FOUND' } },
      });
    },
  );

  it('hides a deleted user and frees its names', async () => {
    const user = await api.user({ username: 'gone' });

    expect(await api.as(user).delete(`/users/${user.id}`)).toMatchObject({ status: 204, text: '' });
    expect(await api.as(user).get('/users/profile')).toMatchObject({ status: 401 });
    expect(await api.as(ada).get(`/users/${user.id}`)).toMatchObject({ status: 404 });
    expect(await api.as(admin).delete(`/users/${user.id}`)).toMatchObject({ status: 404 });
    expect((await api.as(ada).get('/users?search=gone')).body.pagination.total).toBe(0);
    expect(await api.post('/users', aNewUser('gone', { email: user.email }))).toMatchObject({ status: 201 });
  });

  it('keeps no password of a deleted user, nor of those who were deleted before', async () => {
    const [deleted, before] = [await api.user(), await api.user()];
    const users = api.repository(User);
    const hashOf = async ({ id }: { id: number }) =>
      (await users.findOneOrFail({ where: { id }, withDeleted: true })).password_hash;
    await users.update({ id: before.id }, { deleted_at: new Date() });
    expect(await api.as(admin).delete(`/users/${deleted.id}`)).toMatchObject({ status: 204 });
    expect(await hashOf(deleted)).toBeNull();

    const runner = users.manager.dataSource.createQueryRunner();
    await new PasswordsOfDeletedUsers1767520000000().up(runner);
    await runner.release();

    expect([await hashOf(before), await hashOf(ada)]).toEqual([null, expect.stringContaining('$argon2id$')]);
  });

  it('never returns or accepts back a password', async () => {
    const answer = await api.as(ada).get(`/users/${ada.id}`);

    expect(answer.text).not.toMatch(/password|argon2/);
    expect(await api.as(ada).get('/users?fields=password_hash')).toMatchObject({ status: 400 });
    expect(await api.as(ada).get('/users?sort=password_hash')).toMatchObject({ status: 400 });
  });
});
