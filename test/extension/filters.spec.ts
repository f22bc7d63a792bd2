import { HttpAdapterHost } from '@nestjs/core';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { CatchEverythingFilter, InheritingModule, LARGE, STATUSES, ScratchModule } from '../support/modules/filtered';

describe("A filter for everything, as Nest's documentation has it", () => {
  const api = useTestApi({
    imports: [ScratchModule],
    prepare: (app) => void app.useGlobalFilters(new CatchEverythingFilter(app.get(HttpAdapterHost))),
  });

  it.each(STATUSES)('answers an error of the service (%s) with its own status, %i', async (name, status) => {
    const answer = await api.get(`/plain/thrown/${name}`);

    expect([answer.status, answer.body.statusCode]).toEqual([status, status]);
  });

  it('answers a refused body with 400', async () => {
    const answer = await api.post('/plain/names', { name: 'x' });

    expect([answer.status, answer.body]).toEqual([400, { statusCode: 400, path: '/api/v1/plain/names' }]);
  });
});

describe("A global filter that extends Nest's own", () => {
  const api = useTestApi({ imports: [InheritingModule] });

  it.each(STATUSES)('answers an error of the service (%s) by the envelope, with status %i', async (name, status) => {
    const answer = await api.get(`/plain/thrown/${name}`);

    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toMatch(/^[A-Z_]+$/);
  });

  it('answers a refused body with its fields', async () => {
    const answer = await api.post('/plain/names', { name: 'x' });

    expectError(answer, 'VALIDATION_ERROR', { fields: { name: 'length' } });
  });
});

describe('A filter for some exceptions', () => {
  const api = useTestApi({ imports: [ScratchModule] });

  it.each(STATUSES.slice(0, -1))('takes an error of the service (%s) by HttpException', async (name, status) => {
    const answer = await api.get(`/http/thrown/${name}`);

    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({
      by: 'http',
      text: expect.stringMatching(/\S/),
      answer: { statusCode: status },
    });
  });

  it("prints what a refused body is told, as with Nest's own validation", async () => {
    const answer = await api.post('/http/names', { name: 'x' });

    expect(answer.body.answer).toEqual({
      statusCode: 400,
      message: [expect.stringMatching(/^name: /)],
      error: 'Bad Request',
      code: 'VALIDATION_ERROR',
      details: expect.stringContaining('name: '),
      fields: [{ field: 'name', rule: 'length', message: expect.stringMatching(/^must/) }],
    });
  });

  it("takes an error of the service by the name that Nest's exception with its status has", async () => {
    expect((await api.get('/named/thrown/row')).body).toMatchObject({
      by: 'User not found',
      answer: { statusCode: 404 },
    });
    expect((await api.get('/named/thrown/duplicate')).body.answer).toMatchObject({ statusCode: 409, code: 'CONFLICT' });
    expect((await api.post('/named/names', { name: 'x' })).body.answer.fields).toHaveLength(1);
    expectError(await api.get('/named/thrown/code'), 'LOCKED');
  });

  it('hands an error of the service on, and it leaves as it is otherwise', async () => {
    expect(expectError(await api.get('/rethrown/thrown/row'), 'USER_NOT_FOUND').message).toBe('User not found');
    expectError(await api.get('/rethrown/thrown/version'), 'PRECONDITION_FAILED');
  });

  it("takes TypeORM's errors themselves by their own names", async () => {
    expect((await api.get('/database/thrown/row')).body).toEqual({ by: 'EntityNotFoundError' });
    expect((await api.get('/database/thrown/duplicate')).body).toEqual({ by: 'QueryFailedError' });
    expect((await api.get('/database/thrown/version')).body).toMatchObject({ statusCode: 412 });
  });

  it('maps a refused body in an interceptor, where it is a BadRequestException', async () => {
    const answer = await api.post('/plain/mapped', { name: 'x' });

    expect(answer.body.data).toEqual({ status: 400 });
  });

  it('leaves an error of the service as it is without a filter', async () => {
    expectError(await api.get('/plain/thrown/row'), 'USER_NOT_FOUND');
    expectError(await api.post('/plain/names', { name: 'x' }), 'VALIDATION_ERROR', { fields: { name: 'length' } });
  });

  it('throws a 400 with a text, which is the message, and that of the request as a whole', async () => {
    const text = 'Something bad happened';
    const { error } = (await api.get('/plain/bad')).body;
    const fields = [{ field: 'request', rule: 'invalid', message: text }];
    expect(error).toEqual({
      code: 'VALIDATION_ERROR',
      message: text,
      details: text,
      fields,
      timestamp: expect.any(String),
    });

    expect(expectError(await api.get('/plain/nameless'), 'VALIDATION_ERROR').message).toBe('Bad Request');
    expectError(await api.get('/plain/numbers/x'), 'VALIDATION_ERROR', { fields: { number: 'invalid' } });
  });

  it.each(['half', 'half/later'])('cuts an answer off whose handler fails in its midst (%s)', async (path) => {
    const signal = AbortSignal.timeout(30_000);
    const answer = fetch(`${api.url}/api/v1/plain/${path}`, { signal }).then((begun) => begun.text());

    await expect(answer).rejects.toThrow(/terminated|fetch failed/);
  });

  it.each([
    ['text', LARGE.length],
    ['file', LARGE.length + 1],
  ])('sends what a handler returned to its end (%s), whatever fails meanwhile', async (path, length) => {
    const answer = await api.get(`/plain/large/${path}`);

    expect([answer.status, answer.text.length]).toEqual([200, length]);
  });

  it('leaves an answer whole whose handler fails after it', async () => {
    const answer = await api.get('/plain/whole');

    expect([answer.status, answer.body]).toEqual([200, { whole: true }]);
  });
});
