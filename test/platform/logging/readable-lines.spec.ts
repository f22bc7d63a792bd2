import { sentenceOf } from '../../../src/platform/logging/logging';

const REQUEST = { msg: 'request', method: 'GET', route: '/api/orders/:id', version: 2, status: 200, ms: 1.5 };

describe('A readable line of the log', () => {
  it.each([
    [REQUEST, 'GET /api/v2/orders/:id 200 in 1.5 ms'],
    [{ ...REQUEST, route: null, version: undefined }, 'GET ? 200 in 1.5 ms'],
    [{ ...REQUEST, status: null }, 'GET /api/v2/orders/:id not answered in 1.5 ms'],
    [{ context: 'ParserErrors', msg: 'request', method: null, route: null, status: 400 }, '? ? 400'],
  ])('of a request is a sentence: %j', (line, sentence) => {
    expect(sentenceOf(line)).toBe(sentence);
  });

  it('of a refused access names its context, though it has a method', () => {
    const line = { context: 'Security', msg: 'security event', event: 'authz_fail', method: 'GET', status: 403 };

    expect(sentenceOf(line)).toBe('[Security] security event');
  });

  it('of anything else is its message', () => {
    expect(sentenceOf({ msg: 'Stopped' })).toBe('Stopped');
    expect(sentenceOf({ context: 'Jobs', msg: 'Done', ms: 5 })).toBe('[Jobs] Done');
  });
});
