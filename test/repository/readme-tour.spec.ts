import { existsSync, readFileSync } from 'node:fs';
import { useTestApi } from '../support/test-api';
import { answersIn, type Step, takeTour, titlesIn } from '../support/tour';

const [, tour] = /^### A tour\n.*?^```sh\n(.*?)^```/ms.exec(readFileSync('README.md', 'utf8'))!;
/** Tests of steps that go with the examples. */
const withExamples = existsSync('src/resources/products') ? it : it.skip;

describe('The tour of README.md', () => {
  const api = useTestApi({ settings: { DEMO_DATA: 'true' } });
  let steps: Step[];

  beforeAll(async () => {
    steps = await takeTour(tour, api.url);
  });

  const outputOf = (text: RegExp) => steps.find(({ title }) => text.test(title))!.output;

  it('has a step that prints something for each comment', () => {
    expect(steps.filter(({ output }) => output === '')).toEqual([]);
    expect(steps).toHaveLength(titlesIn(tour).length);
  });

  it('registers a user, and reads it', () => {
    const alan = { username: 'alan', email: 'alan@example.com' };

    expect(answersIn(outputOf(/^Register/))).toMatchObject([{ code: 201, data: alan }]);
    expect(answersIn(outputOf(/^Read your own user/))).toMatchObject([{ code: 200, data: alan }]);
  });

  it('lists two users by two attributes', () => {
    const [users] = answersIn(outputOf(/^Read a page/)) as { data: object[] }[];

    expect(users.data.map((user) => Object.keys(user))).toEqual([
      ['id', 'username'],
      ['id', 'username'],
    ]);
  });

  withExamples('finds cups', () => {
    const cup = { id: expect.any(Number), name: expect.stringMatching(/cup/i), price: expect.any(Number) };
    const [products] = answersIn(outputOf(/^Search products/)) as { data: object[] }[];

    expect(products.data[0]).toEqual(cup);
  });

  withExamples('orders, and cancels the order', () => {
    expect(answersIn(outputOf(/^Order/))).toMatchObject([
      { code: 201, data: { status: 'PENDING', items: [{ product_id: 1, quantity: 2 }] } },
      { code: 200, data: { status: 'CANCELLED' } },
    ]);
  });

  it('gets the first answer again for a key that was sent before', () => {
    const lines = outputOf(/^Send a POST twice/).split(/\r?\n/);

    expect(lines.filter((line) => line.startsWith('HTTP/1.1 201'))).toHaveLength(2);
    expect(lines.filter((line) => /^Idempotent-Replayed: /i.test(line))).toHaveLength(1);
  });

  it('gets 304 for its own entity tag, and 412 for one that is not current', () => {
    const [status, conflict] = outputOf(/304.*412/).split(/\r?\n/);

    expect(status).toMatch(/^HTTP\/1.1 304/);
    expect(JSON.parse(conflict)).toMatchObject({ error: { code: 'PRECONDITION_FAILED' } });
  });

  it('gets the same list by path and by media type', () => {
    const [byPath, byType] = answersIn(outputOf(/^The same list/)) as { data: object[] }[];

    expect(byPath.data).toHaveLength(2);
    expect(byType.data).toEqual(byPath.data);
  });

  it('is told each mistake', () => {
    const [{ error }] = answersIn(outputOf(/^Make mistakes/)) as { error: { code: string; fields: object[] } }[];

    expect(error.code).toBe('VALIDATION_ERROR');
    expect(error.fields).toMatchObject([{ field: 'username' }, { field: 'email' }, { field: 'password' }]);
  });
});
