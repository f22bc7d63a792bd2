import { createHmac } from 'node:crypto';
import { SigningKeys } from '../../src/platform/accounts';
import { type Client, expectError } from '../../src/platform/testing';
import { User, UserStatus } from '../../src/resources/users/user.entity';
import { LinkSeal } from '../../src/uploads/links/link-seal';
import { ACTIVE, PICTURE, PICTURES } from '../support/pictures';
import { type TestUser, useTestApi } from '../support/test-api';
import { keyOf, sha256, uploading } from '../support/uploading';

const HOUR = 3_600;
const WEEK = 7 * 24 * HOUR;
const now = () => Math.floor(Date.now() / 1_000);

describe('A link to an upload', () => {
  const api = useTestApi({ settings: { MIN_FREE_DISK: '0' } });
  let owner: TestUser;
  let own: Client;

  beforeEach(async () => {
    owner = await api.user();
    own = api.as(owner);
  });
  afterEach(() => jest.restoreAllMocks());

  const { begin, uploaded } = uploading(api, () => owner);
  const seal = () => api.app.nest.get(LinkSeal);
  const linked = async (path: string, body: object = {}) =>
    (await own.post(`${path}/links`, body)).body.data.url as string;
  /** As a browser does that has only the address. */
  const load = (url: string, init?: RequestInit) => fetch(api.url + url, init);

  it('answers 201 with a path that opens the content to everybody, and the time at which it ends', async () => {
    const path = await uploaded(PICTURE, { filename: 'photo é.png' });
    const before = now();
    const { status, headers, body } = await own.post(`${path}/links`, { expires_in: HOUR });
    const { url, expires_at } = body.data;

    expect([status, headers.get('location')]).toEqual([201, url]);
    expect(url).toMatch(new RegExp(`^/api/v1${path}/links/\\d{10}\\.[\\w-]{43}$`));
    expect(Date.parse(expires_at as string)).toBeGreaterThanOrEqual((before + HOUR) * 1_000);
    expect(Date.parse(expires_at as string)).toBeLessThan((before + HOUR + 60) * 1_000);

    const answer = await load(url as string);
    expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, PICTURE]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': `inline; filename="photo _.png"; filename*=UTF-8''photo%20%C3%A9.png`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
      etag: `"${sha256(PICTURE)}"`,
    });
    const [, age] = /^private, max-age=(\d+), immutable$/.exec(answer.headers.get('cache-control')!)!;
    expect(Number(age)).toBeGreaterThan(HOUR - 60);
    expect(Number(age)).toBeLessThanOrEqual(HOUR + 1);
  });

  it('lasts an hour by default, and from a minute to a week', async () => {
    const path = await uploaded(PICTURE);
    const ask = (expires_in: unknown) => own.post(`${path}/links`, { expires_in });
    expect(Number(keyOf(await linked(path)).split('.')[0]) - now()).toBeCloseTo(HOUR, -2);
    expect([(await ask(60)).status, (await ask(WEEK)).status]).toEqual([201, 201]);
    for (const wrong of [59, WEEK + 1, 0, -1, 60.5, '60', null]) expectError(await ask(wrong), 'VALIDATION_ERROR');
    expectError(await own.post(`${path}/links`, { expires_at: '2030-01-01' }), 'VALIDATION_ERROR');
    const long = await load(`/api/v1${path}/links/${seal().seal(keyOf(path), now() + WEEK)}`);
    expect(long.headers.get('cache-control')).toBe('private, max-age=86400, immutable');
  });

  it('names no host that the request has named, and the version of the API that it has named', async () => {
    const path = await uploaded(PICTURE);
    const headers = { 'X-Forwarded-Host': 'evil.example.com', Origin: 'https://evil.example.com' };
    const { text } = await own.post(`${path}/links`, {}, headers);
    expect(text).not.toContain('evil');
    const second = (await own.post(`//api/v2${path}/links`, {})).body.data.url as string;
    expect([second.startsWith('/api/v2/'), (await load(second)).status]).toEqual([true, 200]);
  });

  it('is read in ranges, by HEAD, and not again by who has it', async () => {
    const url = await linked(await uploaded(Buffer.from('0123456789')));
    const ETag = `"${sha256(Buffer.from('0123456789'))}"`;
    const part = await load(url, { headers: { Range: 'bytes=2-4' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-4/10', '234']);
    expect((await load(url, { headers: { Range: 'bytes=10-' } })).status).toBe(416);
    const head = await load(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
    const known = await load(url, { headers: { 'If-None-Match': ETag } });
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, ETag, '']);
    expect(known.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect((await load(url, { method })).status).toBe(405);
  });

  it('asks for no token, and reads none', async () => {
    const url = await linked(await uploaded(PICTURE));
    for (const Authorization of ['Bearer x', 'Basic eDp5', `Bearer ${(await api.user()).token}`]) {
      expect((await load(url, { headers: { Authorization } })).status).toBe(200);
    }
  });

  it('answers 404 when a character of it has changed, and 400 when it can’t be a link', async () => {
    const path = await uploaded(PICTURE);
    const url = await linked(path);
    const link = keyOf(url);
    const at = (text: string) => load(`/api/v1${path}/links/${text}`);
    const other = (character: string) =>
      /\d/.test(character) ? String((Number(character) + 1) % 10 || 2) : character === 'A' ? 'B' : 'A';
    const changed = [...link].flatMap((one, index) =>
      one === '.' ? [] : [link.slice(0, index) + other(one) + link.slice(index + 1)],
    );
    const answers = await Promise.all(changed.map(at));
    expect(changed.length).toBe(53);
    expect(answers.map(({ status }) => status)).toEqual(changed.map(() => 404));
    const texts = [
      link.slice(0, -1),
      `${link}A`,
      link.replace('.', '-'),
      `0${link.slice(1)}`,
      'x',
      'x'.repeat(10_000),
      `${link}%0A`,
    ];
    for (const text of texts) expect([text, (await at(text)).status]).toEqual([text, 400]);
    expect((await load(url)).status).toBe(200);
  });

  it('answers 404 to a signature of another upload, expiry, format, purpose or secret', async () => {
    const path = await uploaded(PICTURE);
    const [key, expiry] = [keyOf(path), now() + HOUR];
    const sign = (secret: Buffer, text: string) => createHmac('sha256', secret).update(text).digest('base64url');
    const keys = api.app.nest.get(SigningKeys);
    const [secret] = keys.derive('links to uploads');
    const right = sign(secret, `link 1\n${key}\n${expiry}`);
    const statusOf = async (signature: string, time = expiry) =>
      (await load(`/api/v1${path}/links/${time}.${signature}`)).status;

    expect(await statusOf(right)).toBe(200);
    expect(await statusOf(right, expiry + 1)).toBe(404);
    const wrong = [
      sign(secret, `link 1\n${keyOf(await uploaded(PICTURE))}\n${expiry}`),
      sign(secret, `link 2\n${key}\n${expiry}`),
      sign(secret, `${key}\n${expiry}`),
      sign(secret, `link 1\n${key.toUpperCase()}\n${expiry}`),
      sign(keys.derive('encryption of cursors')[0], `link 1\n${key}\n${expiry}`),
      sign(Buffer.alloc(32), `link 1\n${key}\n${expiry}`),
      // Another spelling of the same bytes: the last character has two bits that count for nothing.
      right.slice(0, -1) + String.fromCharCode(right.charCodeAt(42) + (/[AEIMQUYcgkosw048]$/.test(right) ? 1 : 0)),
    ];
    expect(await Promise.all(wrong.map((one) => statusOf(one)))).toEqual(
      wrong.map((one) => (one === right ? 200 : 404)),
    );
    expect(wrong[6]).not.toBe(right);
  });

  it('ends at its second', async () => {
    const path = await uploaded(PICTURE);
    const expiry = now() + HOUR;
    const url = `/api/v1${path}/links/${seal().seal(keyOf(path), expiry)}`;
    const clock = jest.spyOn(Date, 'now');
    const statusAt = async (time: number) => {
      clock.mockReturnValue(time);
      return (await load(url)).status;
    };
    expect(await statusAt(expiry * 1_000 - 1)).toBe(200);
    expect(await statusAt(expiry * 1_000)).toBe(404);
    expect(await statusAt(expiry * 1_000 - 1_500)).toBe(200);
  });

  it('answers 404 when the upload is deleted, and while its owner is suspended or deleted', async () => {
    const [path, other] = [await uploaded(PICTURE), await uploaded(PICTURE)];
    const [url, deleted] = [await linked(path), await linked(other)];
    expect((await own.delete(other)).status).toBe(204);
    const gone = await load(deleted);
    expect([gone.status, gone.headers.get('cache-control')]).toEqual([404, 'no-store']);

    const users = api.repository(User);
    await users.update({ id: owner.id }, { status: UserStatus.SUSPENDED });
    expect((await load(url)).status).toBe(404);
    expectError(await api.as(await api.admin()).post(`${path}/links`, {}), 'CONFLICT');
    await users.update({ id: owner.id }, { status: UserStatus.ACTIVE });
    expect((await load(url)).status).toBe(200);
    await users.softDelete({ id: owner.id });
    expect((await load(url)).status).toBe(404);
  });

  it('is for the owner and administrators to make, of what is complete', async () => {
    const path = await uploaded(PICTURE);
    expect((await api.as(await api.admin()).post(`${path}/links`, {})).status).toBe(201);
    expectError(await api.as(await api.user()).post(`${path}/links`, {}), 'FORBIDDEN');
    expectError(await api.post(`${path}/links`, {}), 'UNAUTHORIZED');
    const unfinished = await begin(5);
    expectError(await own.post(`${unfinished}/links`, {}), 'CONFLICT');
    const early = `/api/v1${unfinished}/links/${seal().seal(keyOf(unfinished), now() + HOUR)}`;
    expect((await load(early)).status).toBe(404);
  });

  it('opens nothing else', async () => {
    const path = await uploaded(PICTURE);
    const link = keyOf(await linked(path));
    const ask = (route: string) => api.get(`${path}${route}`, { Authorization: `Bearer ${link}` });
    expect([(await ask('')).status, (await ask('/content')).status]).toEqual([401, 401]);
    expect((await api.get(path)).status).toBe(401);
    expectError(await own.get(`/uploads?cursor=${link}`), 'VALIDATION_ERROR');
    expect((await load(`/api/v1${await uploaded(PICTURE)}/links/${link}`)).status).toBe(404);
  });

  it('is in no line of the log', async () => {
    const path = await uploaded(PICTURE);
    const before = api.app.log.length;
    const url = await linked(path);
    const [, signature] = keyOf(url).split('.');
    for (const text of [url, `${url}x`, url.replace(/\d\./, '0.'), `${url}/x`, `${url}?a=${signature}`])
      await load(text);
    await load(url, { method: 'DELETE' });
    const lines = JSON.stringify(api.app.log.slice(before));
    expect(lines).toContain('/links/:link');
    expect(lines).not.toContain(signature);
  });

  it.each(Object.entries(PICTURES))('shows %s', async (type, bytes) => {
    const { headers } = await load(await linked(await uploaded(bytes, { filename: 'a.html', filetype: 'text/html' })));
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      type,
      'inline; filename="a.html"',
    ]);
  });

  it.each(ACTIVE)('sends everything else as an attachment: %s said to be %s', async (filename, filetype, content) => {
    const path = await uploaded(Buffer.from(content), { filename, filetype });
    const { headers } = await load(await linked(path));
    expect(headers.get('content-type')).not.toMatch(/image|html|xml/);
    expect(headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect((await own.put(`${path}/visibility`, { visibility: 'PUBLIC' })).status).toBe(200);
    expect((await load(`/api/v1${path}/content`)).headers.get('content-disposition')).toMatch(/^attachment;/);
  });
});
