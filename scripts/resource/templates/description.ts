import { type Attribute, KINDS } from '../kinds';
import { camel } from '../names';
import { isSearchable, type Plan } from '../plan';
import { fixtureOf, idOf } from '../project';
import { hasStatus, type Imports, plainLiteral, referencesOf, searchableOf, withImports } from './source';
import { accessRows } from './access-rows';
import { exampleOfChange } from './controller';

/** The description of the resource for the tests that ask all resources. */
export function descriptionFile(plan: Plan): string {
  const { names, parent, attributes } = plan;
  const { entity, noun, one, many, table } = names;
  const path = parent ? `${parent.names.noun}/:id/${noun}` : noun;
  const body = `${bodyName(plan)}()`;
  const required = attributes.filter(({ fallback }) => fallback === undefined);
  const referring = required.filter(({ target }) => target);
  const own = [
    ...(parent ? [idOf(parent)] : []),
    ...(plan.owner ? ['user_id'] : []),
    ...attributes.map(({ name }) => name),
  ];
  const sent = referring.length > 0 ? `{ ...${body}, ...(await refersTo(own)) }` : body;
  const isAsync = referring.length > 0 || parent;
  const to = (id: string) => (isAsync ? `async (own) => ({ ${id}body: ${sent} })` : `() => ({ body: ${sent} })`);
  const code = `
${makers(plan)}
export const ${many}: Resource = {
  noun: '${noun}',
  requests: {
    'GET /api/v1/${path}': ${parent ? `on(${parentName(plan)})` : 'plain'},
    'GET /api/v1/${noun}/:id': on(${one}),
    'POST /api/v1/${path}': ${to(parent ? `ids: [(await ${parentName(plan)}(own)).id], ` : '')},
    'PUT /api/v1/${noun}/:id': async (own) => ({ ids: [(await ${one}(own)).id], body: ${sent} }),
    'PATCH /api/v1/${noun}/:id': on(${one}, ${exampleOfChange(plan) || '{}'}),
    'DELETE /api/v1/${noun}/:id': on(${one}),
  },
  access: \`
${accessRows(plan)}
  \`,
  writable: {
    input: Create${entity}Dto,
    attributes: {
${attributes.map((attribute) => `      ${attribute.name}: ${valuesOf(attribute, plan)},`).join('\n')}
    },
    required: [${required.map(({ name }) => `'${name}'`).join(', ')}],
    replaceable: true,
    least: ${bodyName(plan)},
${referring.length > 0 ? '    refersTo,\n' : ''}${parent ? `    place: async (own) => ({ path: \`/${parent.names.noun}/\${(await ${parentName(plan)}(own)).id}/${noun}\` }),` : ''}
  },
  collections: [
    {
      name: '/${path.replace(':id', '{id}')}',
      table: '${table}',
      attributes: [...common, ${own.map((name) => `'${name}'`).join(', ')}],
      sortable: ${entity},
      statuses: [${(hasStatus(plan) ? statusesOf(plan) : []).join(', ')}],
${searchableOf(plan).length > 0 ? `      textsOf: ({ ${searchableOf(plan).join(', ')} }) => [${searchableOf(plan).join(', ')}],` : ''}
${fillOf(plan)}
    },
  ],
};
`;
  return withImports(
    code.replace(/\n\n(?=\s*[}\w])/g, (gap, at: number) => (at > code.indexOf('requests: {') ? '\n' : gap)),
    importsOf(plan),
  );
}

const bodyName = ({ names }: Plan) => `${/^[AEIOU]/.test(names.entity) ? 'an' : 'a'}${names.entity}`;
const parentName = ({ parent }: Plan) => camel(parent!.names.file);
const statusesOf = ({ attributes }: Plan) =>
  attributes.find(({ name }) => name === 'status')!.options.map((one) => `'${one}'`);

/** The text that a search of the tests looks for: the longest, and one that several rows may have if there is one. */
function carrierOf(plan: Plan): Attribute | undefined {
  const texts = plan.attributes.filter(
    ({ name, kind, max }) => searchableOf(plan).includes(name) && kind.isText && max > 0,
  );
  return texts.sort((a, b) => Number(a.unique) - Number(b.unique) || b.max - a.max).find(isSearchable);
}

function makers(plan: Plan): string {
  const { names, attributes, parent, owner } = plan;
  const required = attributes.filter(({ fallback, target }) => fallback === undefined && !target);
  const referring = attributes.filter(({ fallback, target }) => fallback === undefined && target);
  const fixtures = referencesOf(plan).filter(({ attribute }) => !attribute || referring.includes(attribute));
  const made = required.map((one) => `${one.name}: ${madeValue(one)}`);
  const idsOf = referring.map(({ name }) => {
    const { expression } = fixtureOf(fixtures.find(({ column }) => column === name)!.to);
    return `${name}: ${idOfExpression(expression)}`;
  });
  const parentRow = parent ? fixtureOf(parent) : undefined;
  const counter = required.some(({ unique }) => unique) ? 'let made = 0;\n' : '';
  const given = [
    ...(owner ? ['user_id: own.owner.id'] : []),
    ...(referring.length > 0 ? ['...(await refersTo(own))'] : []),
  ];
  const row = ['...' + bodyName(plan) + '()', ...given];
  const parentLine = parent
    ? `const ${parentName(plan)} = (own: Fixtures) => ${parentRow!.expression};\n`.replace(
        '=> own.owner;',
        '=> Promise.resolve({ id: own.owner.id });',
      )
    : '';
  const above = parent ? `, above?: { id: number }` : '';
  const parentId = parent ? [`${idOf(parent)}: (above ?? (await ${parentName(plan)}(own))).id`] : [];
  const asynchronous = parent || referring.length > 0 ? 'async ' : '';
  return `${counter}const ${bodyName(plan)} = () => ({ ${made.join(', ')} });
${parentRow?.imported ? '' : parentLine}${referring.length > 0 ? refersToOf(idsOf) : ''}
/** Inserts one. */
export const ${names.one} = ${asynchronous}(own: Fixtures, attributes: object = {}${above}) =>
  own.insert('${names.table}', { ${[...row, ...parentId, '...attributes'].join(', ')} });
`;
}

/** The ids of required references, of new rows where the owner isn't one. */
function refersToOf(ids: string[]): string {
  const row = `{ ${ids.join(', ')} }`;
  const isAsync = row.includes('await');
  return `const refersTo = ${isAsync ? 'async ' : ''}(own: Fixtures) => ${isAsync ? `(${row})` : `Promise.resolve(${row})`};\n`;
}

const idOfExpression = (expression: string) =>
  expression === 'own.owner' ? 'own.owner.id' : `(await ${expression}).id`;

function madeValue(attribute: Attribute): string {
  const { unique, kind, min } = attribute;
  if (!unique) return plainLiteral(kind.example(attribute, 1));
  if (!kind.isText) return `${min + 2} + ++made`;
  if (kind === KINDS.email) return '`user${++made}@example.com`';
  return min > 4 ? `String(1_000 + ++made).padStart(${min}, '0')` : 'String(1_000 + ++made)';
}

function valuesOf(attribute: Attribute, plan: Plan): string {
  if (!attribute.target) return attribute.kind.values(attribute);
  const { expression } = fixtureOf(plan.targets.find(({ names }) => names.noun === attribute.target)!);
  const maker =
    expression === 'own.owner' ? 'async (own) => ({ id: (await own.api.user()).id })' : `(own) => ${expression}`;
  if (attribute.kind === KINDS.references) return `references(${maker}, ${attribute.items})`;
  return attribute.nullable ? `orNull(reference(${maker}))` : `reference(${maker})`;
}

function fillOf(plan: Plan): string {
  const { names, parent, attributes, owner } = plan;
  const carrier = carrierOf(plan);
  const status = attributes.find(({ name }) => name === 'status');
  const varied = [
    ...(status ? [`status: [${statusesOf(plan).join(', ')}][index % ${status.options.length}]`] : []),
    ...attributes.filter((one) => one !== status).flatMap(variedValue),
  ];
  const row = [
    ...(carrier ? [`${carrier.name}: ${carrier.unique ? '`${text} ${++made}`' : 'text'}`] : []),
    ...varied,
    '...dates',
  ].join(', ');
  const taken = [
    ...(carrier ? ['text'] : []),
    ...(varied.length > 0 ? ['index'] : []),
    ...(owner && !parent ? ['even'] : []),
    'dates',
  ];
  const line = `({ ${taken.join(', ')} })`;
  if (!parent) {
    const whose = owner ? '(even ? own : others)' : 'own';
    return `      fill: (own, ${owner ? 'others' : '_others'}, lines) => each(lines, ${line} => ${names.one}(${whose === 'own' ? 'own' : 'even ? own : others'}, { ${row} })),`;
  }
  return `      async fill(own, others, lines) {
        const here = await ${parentName(plan)}(own);
        await each(lines, async (${line.slice(1, -1)}) => {
          await ${names.one}(own, { ${row} }, here);
          await ${names.one}(others, { ...dates });
        });
        return { path: \`/${parent.names.noun}/\${here.id}/${names.noun}\`, where: \`${idOf(parent)} = \${here.id}\` };
      },`;
}

/** Values to sort by, each of which several rows have. */
function variedValue(attribute: Attribute): string[] {
  const { name, kind, nullable, unique, target } = attribute;
  if (unique || target || kind.isText || !kind.canBeSorted(attribute)) return [];
  const values = [kind.example(attribute, 1), ...(nullable ? [null] : []), kind.example(attribute, 2)];
  return [`${name}: [${values.map(plainLiteral).join(', ')}][index % ${values.length}]`];
}

function importsOf(plan: Plan): Imports {
  const { names } = plan;
  const folder = `../../../src/resources/${names.noun}`;
  const rows = new Map<string, string>();
  for (const to of [...plan.targets, ...(plan.parent ? [plan.parent] : [])]) {
    const { imported } = fixtureOf(to);
    if (imported) rows.set(`./${to.names.noun}`, imported);
  }
  return [
    [`${folder}/${names.file}.dto`, [`Create${names.entity}Dto`]],
    [`${folder}/${names.file}.entity`, [names.entity]],
    ['../fixtures', ['type Fixtures']],
    ['../prepared-request', ['on', 'plain']],
    ['../resource', ['common', 'each', 'type Resource']],
    ['../structured-values', ['json', 'nested', 'references', 'someOf', 'texts']],
    [
      '../values',
      [
        ...['bigInteger', 'decimal', 'email', 'flag', 'money', 'oneOf', 'optionally', 'orNull', 'reference', 'text'],
        'whole',
      ],
    ],
    ['../written-values', ['day', 'moment', 'uuid', 'webAddress']],
    ...[...rows].sort().map(([place, name]): Imports[number] => [place, [name]]),
  ];
}
