import { makeWholes, readParts, VERSIONS, wholeOf } from '../../scripts/openapi/documents';
import { joined, type OpenApi, partsOf, SHARED } from '../../scripts/openapi/parts';
import { readFileSync, statSync } from 'node:fs';

const GROUPS = VERSIONS.flatMap((version) =>
  [...readParts(version).keys()].filter((name) => name !== SHARED).map((name) => [name, version] as const),
);
const without = (parts: Map<string, OpenApi>, name: string) => new Map([...parts].filter(([one]) => one !== name));
/** Compared as texts, as the order counts too. */
const textsOf = (parts: Map<string, OpenApi>) =>
  new Map([...parts].map(([name, part]) => [name, JSON.stringify(part)]));

describe('The parts of the OpenAPI documents', () => {
  it.each(VERSIONS)('are cut from their whole as they were joined, in version %i', (version) => {
    const parts = readParts(version);

    expect(textsOf(partsOf(joined(parts)))).toEqual(textsOf(parts));
    expect(JSON.parse(readFileSync(wholeOf(version), 'utf8'))).toEqual(joined(parts));
  });

  // A branch that adds a group, and another one that adds another group, therefore change different files.
  it.each(GROUPS)('are the same in all other files if there is no %s, in version %i', (name, version) => {
    const others = without(readParts(version), name);

    expect(textsOf(partsOf(joined(others)))).toEqual(textsOf(others));
  });

  it.each(GROUPS)('have every component that they refer to, or all share it: %s, version %i', (name, version) => {
    const parts = readParts(version);
    const [part, shared] = [parts.get(name)!, parts.get(SHARED)!];
    const references = [...JSON.stringify(part).matchAll(/#\/components\/(\w+)\/([\w.-]+)"/g)];
    const missing = references.filter(
      ([, kind, one]) => !part.components?.[kind]?.[one] && !shared.components?.[kind]?.[one],
    );

    expect(missing).toEqual([]);
  });

  it.each(VERSIONS)('share what the service itself describes, and nothing of a resource, in version %i', (version) => {
    const { schemas, responses } = readParts(version).get(SHARED)!.components!;
    const names = Object.keys(schemas);

    expect(names).toEqual(expect.arrayContaining(['ApiError', 'FieldViolation', 'NotFoundError']));
    expect(names.filter((name) => !/Error$|Pagination$|^(FieldViolation|ErrorDetails)$/.test(name))).toEqual([]);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['Conflict', 'NotFound', 'ValidationError']));
  });

  it('say which component two of them describe differently', () => {
    const part = (description: string): OpenApi => ({
      paths: { '/a': { [description]: { tags: ['A'] } } },
      components: { schemas: { Thing: { description } } },
    });

    expect(() =>
      joined(
        new Map([
          ['a', part('one')],
          ['b', part('two')],
        ]),
      ),
    ).toThrow('schemas/Thing in b.json differs from the one in a.json');
  });

  it('say which operation two of them describe differently', () => {
    const part = (summary: string): OpenApi => ({ paths: { '/a': { get: { tags: ['A'], summary } as object } } });

    expect(() =>
      joined(
        new Map([
          ['a', part('one')],
          ['b', part('two')],
        ]),
      ),
    ).toThrow('GET /a in b.json');
  });

  it('refuse an operation of no group, and two groups of one name', () => {
    const tags = [{ name: 'Credit notes' }, { name: 'credit-notes' }];

    expect(() => partsOf({ paths: { '/a': { get: {} } } })).toThrow('GET /a is in no group');
    expect(() => partsOf({ tags })).toThrow('Two groups of operations would have the file credit-notes.json');
  });

  it('become whole documents once, as long as they stay the same', () => {
    const [file] = makeWholes();
    const { mtimeMs, ino } = statSync(file);

    expect(makeWholes()).toContain(file);
    expect(statSync(file)).toMatchObject({ mtimeMs, ino });
  });
});
