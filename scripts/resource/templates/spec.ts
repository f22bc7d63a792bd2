import { plainLiteral, withImports } from './source';
import type { Plan } from '../plan';

/** Tests of what is particular to the resource, for its team to continue. */
export function specFile(plan: Plan): string {
  const { names, parent, attributes, owner, write } = plan;
  const collection = parent ? `${parent.names.noun}/:id/${names.noun}` : names.noun;
  const unique = attributes.find((one) => one.unique);
  const defaults = attributes.flatMap(({ name, fallback }) =>
    fallback === undefined ? [] : [`${name}: ${plainLiteral(fallback)}`],
  );
  const code = `
const CREATION = 'POST /api/v1/${collection}';

describe('/${names.noun}', () => {
  const api = useTestApi();
  let own: Fixtures;
  let writer: Client;

  beforeAll(async () => {
    own = new Fixtures(api, await api.user());
    writer = api.as(${write === 'admin' ? 'await api.admin()' : 'own.owner'});
  });

  const create = async () => {
    const answer = await sendTo(writer, CREATION, await requestOf(CREATION, own));
    return expectSuccess(answer, 201, 'Created') as { id: number };
  };

  it('creates ${names.aWord}${defaults.length > 0 ? ' with defaults' : ''}, and shows all of it', async () => {
    const created = await create();

    ${defaults.length > 0 ? `expect(created).toMatchObject({ ${defaults.join(', ')} });\n    ` : ''}expect((await writer.get(\`/${names.noun}/\${created.id}\`)).body.data).toEqual(created);
  });
${unique ? uniqueTest(plan, unique.name) : ''}${owner ? ownerTest(plan) : ''}${plan.softDelete ? deletionTest(plan) : ''}});
`;
  return withImports(code, [
    ['../../src/platform/testing', ['type Client', 'countStatuses', 'expectError', 'expectSuccess', 'times']],
    ['../support/fixtures', ['Fixtures']],
    ['../support/requests', ['requestOf', 'sendTo']],
    ['../support/test-api', ['useTestApi']],
  ]);
}

const uniqueTest = ({ names }: Plan, attribute: string) => `
  it('creates one ${names.word} of one ${attribute}, and answers 409 to the others', async () => {
    const request = await requestOf(CREATION, own);
    const answers = await Promise.all(times(5, () => sendTo(writer, CREATION, request)));

    expect(countStatuses(answers)).toEqual({ 201: 1, 409: 4 });
  });
`;

const ownerTest = ({ names, read }: Plan) => `
  it('lets nobody but the owner and administrators ${read === 'owner' ? 'see' : 'change'} ${names.aWord}', async () => {
    const created = await create();
    const stranger = api.as(await api.user());

    expectError(await stranger.${read === 'owner' ? 'get' : 'delete'}(\`/${names.noun}/\${created.id}\`), 'FORBIDDEN');
    expect(await writer.delete(\`/${names.noun}/\${created.id}\`)).toMatchObject({ status: 204 });
  });
`;

const deletionTest = ({ names }: Plan) => `
  it('hides a deleted ${names.word}', async () => {
    const created = await create();

    expect(await writer.delete(\`/${names.noun}/\${created.id}\`)).toMatchObject({ status: 204 });
    expectError(await writer.get(\`/${names.noun}/\${created.id}\`), 'NOT_FOUND');
  });
`;
