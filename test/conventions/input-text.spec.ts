import { Text } from '../../src/platform/input/attributes';
import { expectError } from '../../src/platform/testing';
import { aThing, useThings } from '../support/use-things';

/** Costs the square of its length when it is composed. */
const MARKS = '\u0316\u0301';

describe('what comes in', () => {
  const { api, understood, refused } = useThings();

  describe('as text', () => {
    it.each([
      ['NUL', 'a\0b'],
      ['a control character', 'a\u0001b'],
      ['a newline', 'a\nb'],
      ['a tab', 'a\tb'],
      ['DEL', 'a\u007fb'],
      ['a control character of Latin-1', 'a\u0085b'],
      ['an escape', 'a\u001b[1'],
    ])('holds no control characters: %s', async (_name, title) => {
      await refused(aThing({ title }), { title: 'characters' });
    });

    it('may hold newlines and tabs where it is long, each newline in one spelling', async () => {
      expect(await understood(aThing({ content: 'a\n\tb\r\nc' }))).toMatchObject({ content: 'a\n\tb\nc' });
      await refused(aThing({ content: 'a\0b' }), { content: 'characters' });
      await refused(aThing({ content: 'a\u001bb' }), { content: 'characters' });
      await refused(aThing({ content: 'a\rb' }), { content: 'characters' });
    });

    it.each(['\\ud800', 'a\\udc00', '\\udc00\\ud800'])('holds no half of a surrogate pair: %s', async (escape) => {
      await refused(`{"title":"${escape}"}`, { title: 'encoding' });
    });

    it('has the form that its attribute asks for, all of it and as it is, and the document says the same', async () => {
      const { pattern, minLength, maxLength } = (await api.get('//docs/json')).body.components.schemas.Thing.properties
        .country;
      const form = new RegExp(pattern as string, 'u');
      const isPromised = (text: string) => form.test(text) && text.length >= minLength && text.length <= maxLength;
      const messages = { length: 'must be 2 characters', pattern: 'must be capital letters' };

      for (const [country, rule] of [
        ['DE', undefined],
        ['De', 'pattern'],
        ['D ', 'pattern'],
        ['É!', 'pattern'],
        ['D\n', 'characters'],
        ['D', 'length'],
        [' DE', 'length'],
        ['DEU', 'length'],
        ['', 'length'],
      ] as const) {
        expect([country, isPromised(country)]).toEqual([country, rule === undefined]);
        const answer = await api.post('/things', aThing({ country }));
        if (rule === undefined) expect(answer.body.data).toEqual({ stock: 0, ...aThing({ country }) });
        else expectError(answer, 'VALIDATION_ERROR', { fields: { country: rule } });
        const message = messages[rule as keyof typeof messages];
        if (message) expect(answer.body.error.fields[0]).toMatchObject({ message });
      }
      expect(() => Text({ max: 2, pattern: /[a-z]/i })).toThrow('/[a-z]/i');
    });

    it('is counted in code points, after it was composed', async () => {
      expect(await understood(aThing({ title: '😀'.repeat(5) }))).toMatchObject({ title: '😀'.repeat(5) });
      await refused(aThing({ title: '😀'.repeat(6) }), { title: 'length' });
      expect(await understood(aThing({ title: 'e\u0301'.repeat(5) }))).toMatchObject({ title: 'é'.repeat(5) });
      await refused(aThing({ title: 'e\u0301'.repeat(6) }), { title: 'length' });
    });

    it('is counted after it was composed of whatever it was spelled with', async () => {
      const longest = 'ᾂ'.normalize('NFD');

      expect(await understood(aThing({ title: longest.repeat(5) }))).toMatchObject({ title: 'ᾂ'.repeat(5) });
      await refused(aThing({ title: longest.repeat(6) }), { title: 'length' });
    });

    it('has at most 30 combining marks in a row', async () => {
      expect(await understood(aThing({ content: `a${MARKS.repeat(15)}b${MARKS.repeat(7)}` }))).toBeDefined();
      await refused(aThing({ content: `a${MARKS.repeat(15)}\u0301` }), { content: 'marks' });
      await refused(aThing({ content: `${MARKS.repeat(24)}` }), { content: 'marks' });
      await refused(aThing({ contact: `a${MARKS.repeat(16)}@example.com` }), { contact: 'marks' });
      const aUser = { username: 'marks', email: 'marks@example.com', password: MARKS.repeat(16) };
      expectError(await api.post('/users', aUser), 'VALIDATION_ERROR', { fields: { password: 'marks' } });
    });

    it('is told nothing but its length when it is too long to look at', async () => {
      for (const text of [MARKS, '\0', '\ud800', ' ', '\r\n'].map((piece) => piece.repeat(20_000))) {
        await refused(
          { title: text, content: text, contact: text },
          { title: 'length', content: 'length', contact: 'length' },
        );
      }
    });

    it.each(['\ud800@example.com', 'a\udc00@example.com', 'a@\ud800.com'])(
      'holds no half of a surrogate pair where it is an e-mail address: %j',
      async (contact) => {
        await refused(JSON.stringify(aThing({ contact })), { contact: 'encoding' });
      },
    );

    it('is trimmed, of whatever is blank', async () => {
      expect(await understood(aThing({ title: ' \u00a0\u2003\ufeff\n\ta b\r\n ' }))).toMatchObject({ title: 'a b' });
    });

    it.each(['', ' ', '     ', '\t\n', '\u00a0\u2003', '\ufeff'])(
      'is not blank where something is required: %j',
      async (title) => {
        await refused(aThing({ title }), { title: 'length' });
      },
    );

    it.each([1, 0, true, false, null, [], {}, ['thing'], { length: 3 }])('is a string, not %j', async (title) => {
      await refused(aThing({ title }), { title: 'type' });
    });

    it('makes no user of blanks', async () => {
      const aUser = { username: 'blank', email: 'blank@example.com', password: 'long enough' };
      const rules = async (more: object) => (await api.post('/users', { ...aUser, ...more })).body.error.fields;

      expect(await rules({ username: ' '.repeat(10) })).toMatchObject([{ field: 'username', rule: 'length' }]);
      expect(await rules({ password: ' '.repeat(10) })).toMatchObject([{ field: 'password', rule: 'blank' }]);
      expect(await rules({ password: '\u2003'.repeat(10) })).toMatchObject([{ field: 'password', rule: 'blank' }]);
    });

    it('is not hashed when it is 90 kilobytes of password, and not echoed', async () => {
      const password = 'open sesame '.repeat(7_500);
      const answer = await api.post('/users', { username: 'long', email: 'long@example.com', password });

      expectError(answer, 'PAYLOAD_TOO_LARGE', { secret: 'sesame' });
      const shorter = password.slice(0, 16_000);
      expectError(
        await api.post('/users', { username: 'long', email: 'long@example.com', password: shorter }),
        'VALIDATION_ERROR',
        {
          fields: { password: 'length' },
          secret: 'sesame',
        },
      );
      expectError(await api.post('/auth/tokens', { username: 'ada', password: shorter }), 'VALIDATION_ERROR', {
        fields: { password: 'length' },
        secret: 'sesame',
      });
    });

    it('is taken with its blanks, in either form of Unicode, when it is a password', async () => {
      const username = 'chloe';
      const password = '  cafe\u0301 au lait  ';
      await api.post('/users', { username, email: 'chloe@example.com', password });
      const signIn = async (password: string) => (await api.post('/auth/tokens', { username, password })).status;

      expect(await signIn(password)).toBe(201);
      expect(await signIn(password.normalize('NFC'))).toBe(201);
      expect(await signIn(password.trim())).toBe(401);
    });

    it.each([
      'ada',
      'ada@',
      '@example.com',
      'a b@example.com',
      'ada@example',
      'ada@example.com\nBcc: a@b.de',
      'a@b@c.de',
      `${'a'.repeat(250)}@b.de`,
    ])('is an e-mail address, not %s', async (email) => {
      const answer = await api.post('/users', { username: 'nobody', email, password: 'long enough' });

      const error = expectError(answer, 'VALIDATION_ERROR');
      expect(error.fields!.map(({ field }) => field)).toEqual(error.fields!.map(() => 'email'));
    });
  });
});
