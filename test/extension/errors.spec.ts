import { HttpException } from '@nestjs/common';
import { codeOfStatus, declareErrors, type ErrorCode } from '../../src/platform';
import { openApiDocument } from '../../src/platform/docs/openapi';
import { expectError, expectErrorEnvelope, expectErrorHeaders, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { NoteErrors, SECRET, ScratchModule, exceptions } from '../support/modules/exceptions';

describe('An application built on the platform', () => {
  const api = useTestApi({ imports: [ScratchModule] });

  it.each(Object.entries(exceptions))(
    'throws %s, and it leaves with its status, code and message',
    async (name, expected) => {
      const [, code, message, details = message] = expected;
      const answer = await api.get(`/exceptions/${encodeURIComponent(name)}`);
      const { error } = expectErrorEnvelope(answer);

      expect(error).toMatchObject({ code, message, ...(answer.status < 500 && { details }) });
      expect(answer.status).toBe(Number(/^\d+/.exec(name)?.[0] ?? answer.status));
      expect(answer.text).not.toContain(SECRET);
    },
  );

  it('throws any status of an error there is, and none becomes another', async () => {
    // fetch takes a 407 for an answer of a proxy, and fails.
    for (const status of times(200, (index) => 400 + index).filter((one) => one !== 407)) {
      exceptions[`every ${status}`] = [() => new HttpException('a text', status), codeOfStatus(status), ''];
      const answer = await api.get(`/exceptions/${encodeURIComponent(`every ${status}`)}`);
      const { error } = expectErrorEnvelope(answer);

      expect([answer.status, error.code]).toEqual([status, codeOfStatus(status)]);
      // These mean one thing, which nobody has said here.
      expect(error.code).not.toMatch(/IDEMPOTENCY|QUOTA|CHECKSUM|USER_/);
    }
  });

  it.each([200, 204, 302, 304, 600])('throws a status that is none of an error, and it is 500: %s', async (status) => {
    exceptions[`no error ${status}`] = [() => new HttpException(SECRET, status), 'INTERNAL_ERROR', ''];
    const answer = await api.get(`/exceptions/${encodeURIComponent(`no error ${status}`)}`);

    expectError(answer, 'INTERNAL_ERROR', { secret: SECRET });
  });

  it('throws a list with 400, and each message is in the details', async () => {
    const lists = expectError(await api.get('/exceptions/lists'), 'VALIDATION_ERROR');
    expect(lists).toMatchObject({ message: 'Bad Request', details: 'name must be longer; age must be a number' });

    const objects = expectError(await api.get('/exceptions/objects'), 'VALIDATION_ERROR');
    expect(objects).toMatchObject({ message: 'No', details: 'No; {"colour":"red"}' });
  });

  it("takes Nest's own option for a code, and the code is what the client reads", async () => {
    const answer = await api.get('/exceptions/coded');

    expect(answer.status).toBe(400);
    const details = 'Not that seat';
    expect(answer.body.error).toEqual({ code: 'SEAT_TAKEN', message: details, details, timestamp: expect.any(String) });
  });

  it.each([400, 401, 403, 404, 409, 422, 429, 500, 503])(
    'lets an error of another service pass, and its status %s is not taken for ours',
    async (status) => {
      const answer = await api.get(`/exceptions/clients/${status}`);

      expectError(answer, 'INTERNAL_ERROR', { secret: SECRET });
      expect(answer.headers.has('www-authenticate')).toBe(false);
    },
  );

  it.each(['conflict', 'list', 'custom', 'accident'])(
    'replies by a filter that catches everything, and %s leaves as the filter put it',
    async (name) => {
      const answer = await api.get(`/caught/everything/${name}`);
      const status = { conflict: 409, list: 400, custom: 409, accident: 500 }[name];

      expect(answer.status).toBe(status);
      expect(answer.body).toEqual({ statusCode: status, timestamp: expect.any(String), path: expect.any(String) });
      expectErrorHeaders(answer);
      expect(answer.headers.has('etag')).toBe(false);
    },
  );

  it('replies a text by a filter, and no browser takes it for a page', async () => {
    const answer = await api.get('/caught/text');

    expect([answer.status, answer.text]).toEqual([409, '<b>no</b>']);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  it("inherits Nest's own filter, and its default bodies become the envelope", async () => {
    expectError(await api.get('/caught/inherited/accident'), 'INTERNAL_ERROR', { secret: SECRET });
    expect(expectError(await api.get('/caught/inherited/conflict'), 'CONFLICT').message).toBe('Taken');
    const list = expectError(await api.get('/caught/inherited/list'), 'VALIDATION_ERROR');
    expect(list.details).toBe('a; b');
    expect((await api.get('/caught/inherited/custom')).body).toEqual({ seat: '12A' });
  });

  it.each([
    ['returned', 409],
    ['set', 404],
  ])(
    'answers a value with the status of an error (%s), and it is in no envelope of a success',
    async (path, status) => {
      const answer = await api.get(`/exceptions/${path}`);

      expect([answer.status, answer.body]).toEqual([status, { seat: '12A' }]);
      expectErrorHeaders(answer);
    },
  );

  it('declares codes of its own, with their status and headers, and the document knows them', async () => {
    const answer = await api.get('/notes/1');
    expectError(answer, NoteErrors.NOTE_LOCKED);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([423, '7']);

    const { components, paths } = openApiDocument(api.app.nest, 1) as unknown as Record<string, never>;
    const { code } = components['schemas']['ApiError']['properties']['error']['properties'] as Record<string, never>;
    expect(code['enum']).toEqual(expect.arrayContaining(['NOTE_LOCKED', 'NOTE_BURNT', 'PAYMENT_REQUIRED']));
    expect(code['description']).toContain('`NOTE_LOCKED` (423): The note is locked');
    expect(Object.keys(paths['/api/v1/notes/{id}']['get']['responses'])).toEqual(
      expect.arrayContaining(['402', '423']),
    );
  });

  it.each([
    ['a code that the service has', { CONFLICT: { status: 400, message: 'x' } }, 'CONFLICT is declared already'],
    ['a code that was declared', { NOTE_BURNT: { status: 400, message: 'x' } }, 'NOTE_BURNT is declared already'],
    ['a name that is no code', { 'Not a code': { status: 400, message: 'x' } }, 'is no error code'],
    ['a status of a success', { FINE: { status: 200, message: 'x' } }, 'from 400 to 599'],
  ])('can not declare %s', (_what, kinds, message) => {
    expect(() => declareErrors(kinds as Record<string, { status: number; message: string }>)).toThrow(message);
  });

  it('has the compiler refuse a code that nobody has declared', () => {
    // @ts-expect-error: the type is the check
    const misspelt: ErrorCode = 'NOTE_LOKED';
    expect(misspelt).toBeDefined();
  });
});
