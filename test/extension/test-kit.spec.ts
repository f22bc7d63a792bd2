import { Column, Entity } from 'typeorm';
import fc from 'fast-check';
import { ResourceEntity } from '../../src/platform';
import { Arbitraries } from '../support/arbitraries';
import { FuzzRequests } from '../support/fuzz-requests';
import { Document } from '../support/openapi';
import { ScratchDatabase } from './scratch-database';

const schemas = {
  Note: {
    type: 'object',
    required: ['due_on', 'done'],
    properties: {
      due_on: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      site: { type: 'string', format: 'uri' },
      key: { type: ['string', 'null'], format: 'uuid' },
      done: { type: 'boolean' },
      title: { type: 'string', minLength: 1 },
      rate: { type: 'number', minimum: -5, maximum: 5 },
      count: { type: 'integer' },
      other: { oneOf: [{ type: 'integer', minimum: 0, maximum: 3 }, { type: 'boolean' }] },
      anything: {},
    },
  },
};

describe('The test kit', () => {
  const arbitraries = new Arbitraries(schemas);
  const document = new Document({ components: { schemas }, paths: {} });

  it.each(Object.entries(schemas.Note.properties).filter(([name]) => name !== 'anything'))(
    'makes values of %s, whatever kind of attribute it is',
    (_name, schema) => {
      fc.assert(
        fc.property(arbitraries.of(schema), (value) => expect(document.violations(schema, value)).toEqual([])),
        { numRuns: 50 },
      );
    },
  );

  it.each([
    [{ type: 'string', format: 'iri' }, "title: the fuzz test can't make texts of the format iri"],
    [{}, "title: the fuzz test can't make a schema like {}"],
  ])('says of which attribute it can make none, and what to do: %j', (schema, message) => {
    const properties = { title: schema };
    expect(() => arbitraries.of({ type: 'object', properties })).toThrow(message);
    expect(() => arbitraries.ofParameter({ name: 'title', schema })).toThrow('teach it to in test/support/arbitraries');
  });

  it('breaks requests of routes where some parameters can’t be wrong', () => {
    const parameters = [
      { name: 'any', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'flag', in: 'query', schema: { type: 'boolean' } },
    ];
    const requestBody = {
      content: { 'application/json': { schema: { type: 'object', properties: { title: { type: 'string' } } } } },
    };
    const paths = { '/notes/{any}': { post: { parameters, requestBody, responses: {} } } };
    const requests = new FuzzRequests(new Document({ components: { schemas }, paths }));
    const broken = fc.sample(requests.invalid(), 200).map((request) => request.broken!.split(/[ .]/)[0]);
    expect(new Set(broken)).toEqual(new Set(['unknown', 'query', 'body']));
  });
});

describe('A default that the database makes', () => {
  it.each([
    ['() => "\'[]\'"', () => "'[]'", true],
    ['[]', [], true],
    // What the test of the entities gives a hint for: TypeORM finds the difference again after each migration.
    ['() => "\'[]\'::jsonb"', () => "'[]'::jsonb", false],
  ])('of a jsonb list, written as %s, is what a migration makes of it', async (_written, fallback, same) => {
    class Listed extends ResourceEntity {
      lines: object[];
    }
    Column({ type: 'jsonb', default: fallback })(Listed.prototype, 'lines');
    Entity('listed')(Listed);
    const scratch = new ScratchDatabase();
    try {
      await scratch.start([Listed]);
      const { upQueries } = await scratch.database.driver.createSchemaBuilder().log();
      expect(upQueries.filter(({ query }) => query.includes('"listed"')).length === 0).toBe(same);
    } finally {
      await scratch.stop();
    }
  });
});
