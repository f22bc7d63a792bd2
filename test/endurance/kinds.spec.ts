import fc from 'fast-check';
import { type Client, expectErrorEnvelope } from '../../src/platform/testing';
import { type FuzzRequest, FuzzRequests } from '../support/fuzz-requests';
import { Document, type Node } from '../support/openapi';
import { useSpecimens } from '../support/specimens';

const RUNS = Number(process.env.FUZZ_REQUESTS ?? 600) / 2;
const SEED = process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED);
const PATIENCE = 60_000 + RUNS * 100;

/** Attributes of every kind, sent what the document says and what it does not. The service's own are in fuzz.spec.ts. */
describe('A resource with an attribute of each kind', () => {
  const api = useSpecimens();
  let admin: Client;
  let requests: FuzzRequests;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    const { paths, ...rest } = (await api.get('//docs/json')).body as Record<string, Node>;
    const own = Object.entries<Node>(paths as object).filter(([path]) => path.includes('/specimens'));
    requests = new FuzzRequests(new Document({ ...rest, paths: Object.fromEntries(own) }));
  });

  const send = ({ operation, path, query, header, body }: FuzzRequest) => {
    const [method, pattern] = operation.split(' ');
    const place = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name]));
    const search = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='));
    return admin.send(method, `/${place}?${search.join('&')}`, body, header);
  };
  const fuzz = (values: fc.Arbitrary<FuzzRequest>, check: (request: FuzzRequest) => Promise<void>) =>
    fc.assert(fc.asyncProperty(values, check), { numRuns: RUNS, seed: SEED, includeErrorInReport: true });

  it(
    'is never refused as invalid when it is valid',
    async () => {
      let successes = 0;
      await fuzz(requests.valid(), async (request) => {
        const { query, body } = request;
        // No schema can say that a parameter and its other name agree, what a cursor is, and who is there.
        for (const name of ['limit', 'sortBy', 'cursor']) delete query[name];
        for (const name of ['finder_id', 'helper_ids']) delete (body as Record<string, unknown> | undefined)?.[name];
        const answer = await send(request);
        expect(answer.status).toBeLessThan(500);
        expect([answer.status, answer.body.error]).not.toEqual([400, expect.anything()]);
        if (answer.status < 300) successes++;
      });
      expect(successes).toBeGreaterThan(RUNS / 5);
    },
    PATIENCE,
  );

  it(
    'is always refused, and never an error of the service, when it is invalid',
    async () => {
      await fuzz(requests.invalid(), async (request) => {
        const answer = await send(request);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expectErrorEnvelope(answer);
      });
    },
    PATIENCE,
  );
});
