import type { Plan } from '../plan';
import { enumOf, type Imports, literal, referencesOf, withImports } from './source';

/** Rows of the demo data: the examples of the document name the first one. */
export function demoFile(plan: Plan): string {
  const { names, attributes } = plan;
  const references = referencesOf(plan).filter(({ attribute }) => attribute?.fallback === undefined);
  const others = [...new Map(references.map(({ to }) => [to.names.noun, to.names])).values()];
  const ids = references.map(({ column, to }) => `${column}: ${to.names.one}.id`);
  const rows = [2, 3].map((index) => {
    const values = attributes
      .filter(({ fallback, target }) => fallback === undefined && !target)
      .map((one) => `${one.name}: ${literal(one, one.kind.example(one, index), names.entity)}`);
    return `    { ${[...values, ...ids].join(', ')} },`;
  });
  const code = `
/** The examples of the document name the first one, which belongs to their caller. */
export async function add${names.plural}(manager: EntityManager): Promise<void> {
${others.map(({ one, entity }) => `  ${reading(one, entity)}`).join('\n')}
  await add(manager, ${names.entity}, [
${rows.join('\n')}
  ]);
}
`;
  const enums = attributes.filter(({ options }) => options.length > 0).map((one) => enumOf(one, names.entity));
  const entities: Imports = [...others.map(({ noun, file, entity }) => ({ noun, file, used: [entity] }))].map(
    ({ noun, file, used }) => [`../resources/${noun}/${file}.entity`, used],
  );
  const own: Imports[number] = [`../resources/${names.noun}/${names.file}.entity`, [names.entity, ...enums]];
  return withImports(code, [
    ['typeorm', ['type EntityManager']],
    ...[...entities, own].sort(([one], [other]) => (one < other ? -1 : 1)),
    ['./rows', ['add']],
  ]);
}

function reading(one: string, entity: string): string {
  // The first user may be the administrator of the settings.
  if (entity === 'User') return `const ${one} = await manager.findOneByOrFail(User, { username: 'ada' });`;
  return `const [${one}] = await manager.find(${entity}, { order: { id: 'ASC' }, take: 1 });`;
}
