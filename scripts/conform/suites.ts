/** Tests that ask all resources, and what they are about. */
export interface Suite {
  file: string;
  /** What is checked, for the report. */
  checks: string;
  /** Where a resource says what these tests ask about. `<noun>` stands for its noun. */
  place: string;
}

const DESCRIPTION = 'test/support/resources/<noun>.ts';
const FOLDER = 'src/resources/<noun>/';

/** What causes other failures comes first. docs/adding-a-resource.md has the same list. */
export const SUITES: Suite[] = [
  {
    file: 'test/conventions/every-table.spec.ts',
    checks: 'the table: columns, trigger, indexes, constraints, defaults, counts',
    place: `the entity in ${FOLDER}, and the migration`,
  },
  {
    file: 'test/conventions/every-operation.spec.ts',
    checks: 'the document: up to date, every operation, parameter, attribute and response described, examples valid',
    place: `the doc comments and decorators in ${FOLDER}; npm run openapi`,
  },
  {
    file: 'test/conventions/every-route.spec.ts',
    checks: 'the routes: requests known, 400, 404, 405, HEAD, OPTIONS, Location, media types, read-only attributes',
    place: `the controller in ${FOLDER}, and \`requests\` in ${DESCRIPTION}`,
  },
  {
    file: 'test/resources/access-matrix.spec.ts',
    checks: 'the access: each route for each caller, and nothing changed where it is refused',
    place: `\`access\` in ${DESCRIPTION}, or the table in test/resources/access-matrix.spec.ts`,
  },
  {
    file: 'test/conventions/every-collection.spec.ts',
    checks: 'the lists: pages, sorting, search, status, fields, links, statements',
    place: `the service in ${FOLDER}, and \`collections\` in ${DESCRIPTION}`,
  },
  {
    file: 'test/conventions/every-link.spec.ts',
    checks: 'the links of answers: self, collection, describedby',
    place: `@Answers, @Creates and @AnswersPage of the controllers in ${FOLDER}`,
  },
  {
    file: 'test/conventions/every-filter.spec.ts',
    checks: 'the filters of lists: equality, bounds, null, indexes',
    place: `\`filterable\` of the list's query in ${FOLDER}`,
  },
  {
    file: 'test/conventions/every-selection.spec.ts',
    checks: 'the rows of a list by `ids`, for each caller, and `total=true` of version 2',
    place: `the service in ${FOLDER}: its list passes the whole query to paginate()`,
  },
  {
    file: 'test/conventions/every-export.spec.ts',
    checks: 'the whole list as CSV and NDJSON: the rows and attributes of its pages, for each caller',
    place: `the service in ${FOLDER}: its list passes the whole query to paginate()`,
  },
  {
    file: 'test/conventions/every-change.spec.ts',
    checks: 'what changed since a moment: `updated_since`, in each form of the list',
    place: `ListQueryOf() of the list's query in ${FOLDER}`,
  },
  {
    file: 'test/conventions/every-told-change.spec.ts',
    checks: 'the feed of changes: what it tells whom',
    place: '`readers` of `auditRows()` in the migration',
  },
  {
    file: 'test/conventions/every-deletion.spec.ts',
    checks: 'deleted rows, if they are kept: `deleted=only`, for administrators alone',
    place: `ListQueryOf() of the list's query in ${FOLDER}: its \`sortable\` is the entity`,
  },
  {
    file: 'test/conventions/every-cursor.spec.ts',
    checks: 'the cursors of version 2: there and back, by each attribute',
    place: `\`collections\` in ${DESCRIPTION}`,
  },
  {
    file: 'test/conventions/every-include.spec.ts',
    checks: 'the related rows of include: embedded beside their ids, as documented, one statement for each name',
    place: `\`@Includes\` of the DTO in ${FOLDER}, and \`includable\` of the included resource`,
  },
  {
    file: 'test/conventions/every-attribute.spec.ts',
    checks: 'the attributes: limits, defaults, PATCH and PUT, version and updated_at',
    place: `the DTO in ${FOLDER}, and \`writable\` in ${DESCRIPTION}`,
  },
  {
    file: 'test/conventions/every-repetition.spec.ts',
    checks: 'entity tags (304, 412) and idempotency keys',
    place: `the controller in ${FOLDER}`,
  },
  {
    file: 'test/endurance/fuzz.spec.ts',
    checks: 'requests made of the document: valid ones aren’t refused, invalid ones are',
    place: `the DTO in ${FOLDER}, or UNSAID in test/endurance/fuzz.spec.ts`,
  },
];
