import { describeError } from '../../src/platform/logging/logging';

const TOKEN = ['eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0abc', 'c2lnbmF0dXJl'].join('.');

describe('An error in the log', () => {
  const messageOf = (message: string) => (describeError(new Error(message)) as { message: string }).message;

  it.each([
    ['Key (email_key)=(ada@example.com) already exists.', 'Key (email_key)=([e-mail]) already exists.'],
    ['mail to "ada l"@example.com failed', 'mail to [e-mail] failed'],
    ['<a+b@müller.example>', '<[e-mail]>'],
    [`${'a'.repeat(300)}@example.com`, '[e-mail]'],
    [`Bearer ${TOKEN}, sent`, 'Bearer [token], sent'],
    ['at /srv/node_modules/@nestjs/core/x.js:1:2 of pg@8.11', 'at /srv/node_modules/@nestjs/core/x.js:1:2 of pg@8.11'],
  ])('names neither a person nor a token: %s', (message, logged) => {
    expect(messageOf(message)).toBe(logged);
  });

  it('is cut, at a blank, so that no half of an address stays', () => {
    const message = messageOf(`${'word '.repeat(1_999)}ada@example.com`);

    expect(message.length).toBeLessThan(10_100);
    expect(message).not.toContain('ada');
    expect(messageOf('a-'.repeat(500_000))).toBe(' …');
  });

  it('of several causes tells each', () => {
    expect(describeError(new Error('above', { cause: new Error('of ada@example.com') }))).toMatchObject({
      message: 'above',
      cause: { message: 'of [e-mail]' },
    });
  });
});
