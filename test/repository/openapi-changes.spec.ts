import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSIONS } from '../../scripts/openapi/documents';
import { changesBetween } from '../../scripts/openapi/changes';
import { isDraft, newestRelease, verdictOn, writeRelease } from '../../scripts/openapi/releases';
import { type AnApi, changed } from '../support/openapi-changes';

type Row = [sentence: string, change: (api: AnApi) => void];

const list = ({ paths }: AnApi) => paths['/shelves'].get;
const create = ({ paths }: AnApi) => paths['/shelves'].post;
const shelf = ({ components }: AnApi) => components.schemas.Shelf;
const input = ({ components }: AnApi) => components.schemas.CreateShelf;
const json = (content: Record<string, object>) => content['application/json'] as { schema: Record<string, unknown> };
const answer = (api: AnApi) =>
  list(api).responses['200'] as { headers: Record<string, object>; content: Record<string, object> };

const BREAKING: Row[] = [
  ['GET /shelves/{}: is gone', (api) => delete api.paths['/shelves/{id}']],
  ['POST /shelves: is gone', (api) => delete api.paths['/shelves'].post],
  ['GET /shelves: is called allShelves, not listShelves', (api) => (list(api).operationId = 'allShelves')],
  ['GET /shelves: parameter sort: is gone', (api) => list(api).parameters!.pop()],
  [
    'GET /shelves: parameter size: is required now',
    (api) => Object.assign(list(api).parameters![0], { required: true }),
  ],
  [
    'GET /shelves: parameter size: at most 50, not 100',
    (api) => Object.assign(list(api).parameters![0], { schema: { type: 'integer', minimum: 1, maximum: 50 } }),
  ],
  [
    'GET /shelves: parameter sort: is no longer name',
    (api) => Object.assign(list(api).parameters![1], { schema: { type: 'string', enum: ['id'], default: 'id' } }),
  ],
  [
    'GET /shelves: parameter sort: the default is "name", not "id"',
    (api) =>
      Object.assign(list(api).parameters![1], { schema: { type: 'string', enum: ['id', 'name'], default: 'name' } }),
  ],
  [
    'GET /shelves: parameter sort: is written in the style form in one piece, not form exploded',
    (api) => Object.assign(list(api).parameters![1], { explode: false }),
  ],
  [
    'GET /shelves: header Tenant: is new, and required',
    (api) => list(api).parameters!.push({ name: 'Tenant', in: 'header', required: true }),
  ],
  ['POST /shelves: the body.note: is required now', (api) => input(api).required.push('note')],
  [
    'POST /shelves: the body.colour: is new, and required',
    (api) => {
      input(api).properties.colour = { type: 'string' };
      input(api).required.push('colour');
    },
  ],
  ['POST /shelves: the body.note: is gone', (api) => delete input(api).properties.note],
  [
    'POST /shelves: the body.note: is string, not null or string',
    (api) => (input(api).properties.note.type = 'string'),
  ],
  ['POST /shelves: the body.state: is no longer FULL', (api) => (input(api).properties.state.enum = ['EMPTY'])],
  [
    'POST /shelves: the body.name: characters at most: 10, not 20',
    (api) => (input(api).properties.name.maxLength = 10),
  ],
  ['POST /shelves: the body.name: must match ^[a-z]+$', (api) => (input(api).properties.name.pattern = '^[a-z]+$')],
  ['POST /shelves: the body.price: a multiple of 0.1 now', (api) => (input(api).properties.price.multipleOf = 0.1)],
  [
    'POST /shelves: the body: is no longer application/json',
    (api) => (create(api).requestBody!.content = { 'application/xml': json(create(api).requestBody!.content) }),
  ],
  [
    'POST /shelves: the answer 201.state: may also be BROKEN',
    (api) => (shelf(api).properties.state.enum = ['EMPTY', 'FULL', 'BROKEN']),
  ],
  ['GET /shelves: the answer 200[].name: is gone', (api) => delete shelf(api).properties.name],
  [
    'GET /shelves: the answer 200[].name: is null or string, not string',
    (api) => (shelf(api).properties.name.type = ['string', 'null']),
  ],
  [
    'GET /shelves: the answer 200[].id: has the format int64, not the format int32',
    (api) => (shelf(api).properties.id.format = 'int64'),
  ],
  ['GET /shelves: the answer 200[].state: is not always there now', (api) => (shelf(api).required = ['id', 'name'])],
  [
    'GET /shelves: the answer 200: is object, not array',
    (api) => (json(answer(api).content).schema = { type: 'object' }),
  ],
  ['GET /shelves: status 200: is gone', (api) => (list(api).responses = { '204': {} })],
  ['GET /shelves: Link, header of the answer 200: is gone', (api) => (answer(api).headers = {})],
  ["GET /shelves: can't be called with no credentials any more", (api) => (list(api).security = [{ bearer: [] }])],
  [
    'POST /shelves: is for administrators, not for everyone who signed in',
    (api) => (create(api).description = 'Creates a shelf.\n\nFor administrators.'),
  ],
];

const ADDITIONS: Row[] = [
  [
    'DELETE /shelves: is new',
    (api) => (api.paths['/shelves'].delete = { operationId: 'deleteShelves', responses: {} }),
  ],
  ['GET /boxes: is new', (api) => (api.paths['/boxes'] = { get: { operationId: 'listBoxes', responses: {} } })],
  ['GET /shelves: parameter search: is new', (api) => list(api).parameters!.push({ name: 'search', in: 'query' })],
  [
    'GET /shelves: parameter size: at most 200, not 100',
    (api) => Object.assign(list(api).parameters![0], { schema: { type: 'integer', minimum: 1, maximum: 200 } }),
  ],
  [
    'GET /shelves: parameter sort: may also be state',
    (api) =>
      Object.assign(list(api).parameters![1], {
        schema: { type: 'string', enum: ['id', 'name', 'state'], default: 'id' },
      }),
  ],
  ['POST /shelves: the body.colour: is new', (api) => (input(api).properties.colour = { type: 'string' })],
  ['POST /shelves: the body.name: is optional now', (api) => (input(api).required = [])],
  [
    'POST /shelves: the body.state: may also be BROKEN',
    (api) => (input(api).properties.state.enum = ['EMPTY', 'FULL', 'BROKEN']),
  ],
  [
    'POST /shelves: the body.name: characters at most: 30, not 20',
    (api) => (input(api).properties.name.maxLength = 30),
  ],
  [
    'POST /shelves: the body.price: is number or string, not number',
    (api) => (input(api).properties.price.type = ['number', 'string']),
  ],
  ['POST /shelves: the body.price: a multiple of 0.001 now', (api) => (input(api).properties.price.multipleOf = 0.001)],
  ['POST /shelves: the body: is optional now', (api) => (create(api).requestBody!.required = false)],
  [
    'POST /shelves: the body: may also be application/xml',
    (api) => (create(api).requestBody!.content['application/xml'] = json(create(api).requestBody!.content)),
  ],
  ['GET /shelves: the answer 200[].colour: is new', (api) => (shelf(api).properties.colour = { type: 'string' })],
  ['GET /shelves: the answer 200[].note: is always there now', (api) => shelf(api).required.push('note')],
  ['GET /shelves: the answer 200[].state: is no longer FULL', (api) => (shelf(api).properties.state.enum = ['EMPTY'])],
  [
    'GET /shelves: the answer 200[].name: characters at most: 30, not 20',
    (api) => (shelf(api).properties.name.maxLength = 30),
  ],
  ['GET /shelves: the answer 200: may also be text/csv', (api) => (answer(api).content['text/csv'] = {})],
  ['GET /shelves: ETag, header of the answer 200: is new', (api) => (answer(api).headers.ETag = {})],
  ['GET /shelves: status 503: is new', (api) => (list(api).responses['503'] = {})],
  ['GET /shelves: is deprecated', (api) => (list(api).deprecated = true)],
  ['POST /shelves: can be called with no credentials', (api) => create(api).security!.push({})],
  [
    'POST /shelves: is for everyone, not for everyone who signed in',
    (api) => (create(api).description = 'For everyone.'),
  ],
];

const NEITHER: Row[] = [
  ['another sentence', (api) => (list(api).description = 'Lists all shelves.\n\nFor everyone.')],
  [
    'another name of a parameter in the path',
    (api) => {
      api.paths['/shelves/{shelfId}'] = api.paths['/shelves/{id}'];
      delete api.paths['/shelves/{id}'];
      Object.assign(api.paths['/shelves/{shelfId}'].get.parameters![0], { name: 'shelfId' });
    },
  ],
  [
    'another name of a component',
    (api) => {
      api.components.schemas.NewShelf = input(api);
      json(create(api).requestBody!.content).schema = { $ref: '#/components/schemas/NewShelf' };
    },
  ],
];

const sentences = (change: Row[1]) =>
  changesBetween(
    changed(() => undefined),
    changed(change),
  ).map(({ breaking, where, what }) => ({ breaking, text: `${where}: ${what}` }));

describe('The changes of a document', () => {
  it.each(BREAKING)('are breaking: %s', (sentence, change) => {
    expect(sentences(change)).toContainEqual({ breaking: true, text: expect.stringContaining(sentence) });
  });

  it.each(ADDITIONS)('are additions: %s', (sentence, change) => {
    const found = sentences(change);

    expect(found).toContainEqual({ breaking: false, text: expect.stringContaining(sentence) });
    expect(found.filter(({ breaking }) => breaking)).toEqual([]);
  });

  it.each(NEITHER)("don't concern callers: %s", (_name, change) => {
    expect(sentences(change)).toEqual([]);
  });
});

describe('The number of a version', () => {
  const numbered = (version: string, change: Row[1]) =>
    changed((api) => {
      change(api);
      api.info.version = version;
    });
  const released = changed(() => undefined);
  const [[, breaks], [, adds], [, rewords]] = [BREAKING[0], ADDITIONS[0], NEITHER[0]];

  it.each<[string, Row[1], string, string | undefined]>([
    ['stays for other sentences', rewords, '1.0.0', undefined],
    ['must be raised for an addition', adds, '1.0.0', 'write 1.1.0 in RELEASES'],
    ['must be raised for an addition, not by its last part', adds, '1.0.1', 'write 1.1.0 in RELEASES'],
    ['allows an addition once it is raised', adds, '1.1.0', undefined],
    ['allows no breaking change', breaks, '1.1.0', 'needs a new version of the API'],
    ['allows a breaking change in another version of the API', breaks, '2.0.0', undefined],
  ])('%s', (_name, change, version, problem) => {
    const verdict = verdictOn(released, numbered(version, change));

    expect(verdict.problem).toEqual(problem === undefined ? undefined : expect.stringContaining(problem));
  });

  it.each<[string, Row[1], string | undefined]>([
    ['stays for an addition', adds, undefined],
    ['is no question at a breaking change, which has to be meant', breaks, 'npm run openapi:release'],
  ])('%s, as long as the release is not published', (_name, change, problem) => {
    const verdict = verdictOn(released, numbered('1.0.0', change), true);

    expect(verdict.changes).toHaveLength(1);
    expect(verdict.problem).toEqual(problem === undefined ? undefined : expect.stringContaining(problem));
  });
});

describe('Released documents', () => {
  let folder: string;
  const document = changed(() => undefined);

  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'releases-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are those of the highest version, as they were written', () => {
    expect(newestRelease(join(folder, 'none'))).toBeUndefined();

    for (const name of ['0.9.0', '0.10.0', '0.2.0']) writeRelease(name, new Map([[1, document]]), { folder });

    expect(newestRelease(folder)).toEqual({ name: '0.10.0', documents: new Map([[1, document]]) });
  });

  it("don't change", () => {
    const again = () => writeRelease('0.9.0', new Map([[1, document]]), { folder });

    expect(again).toThrow("what was released doesn't change");
  });

  it('are written anew as long as they are a draft', () => {
    const later = changed((api) => (api.info.version = '1.1.0'));
    writeRelease('0.10.0', new Map([[1, later]]), { folder, draft: true });

    expect(newestRelease(folder)!.documents.get(1)!.info.version).toBe('1.1.0');
  });

  it.each([
    ['## 0.1.0 (unreleased)', true],
    ['## 0.1.0 (2026-12-01)', false],
    ['## 0.1.01 (unreleased)', false],
    ['## 0.2.0 (unreleased)\n\n## 0.1.0 (2026-12-01)', false],
    ['0.1.0 is (unreleased)', false],
  ])('are a draft if the change log says so of their version: %j', (text, draft) => {
    expect(isDraft('0.1.0', text)).toBe(draft);
  });

  it('are there for every version of the API', () => {
    // Those of the project go with its examples.
    const { documents } = newestRelease() ?? { documents: new Map(VERSIONS.map((version) => [version, document])) };

    expect([...documents.keys()]).toEqual([...VERSIONS]);
  });
});
