import type { EntityMetadata } from 'typeorm';
import type { Fixtures } from './fixtures';
import type { writablesOf } from './resources';

type Described = ReturnType<typeof writablesOf>[number];
type Body = Record<string, unknown>;

/** The names of attributes of which no two rows, or no two rows of one owner, have the same value, save null. */
export function uniqueAttributesOf({ indices, uniques }: EntityMetadata): string[] {
  const all = [...indices.filter(({ isUnique }) => isUnique), ...uniques];
  const names = all.map(({ columns }) => columns.map(({ databaseName }) => databaseName));
  return names
    .map((columns) => columns.filter((name) => name !== 'user_id'))
    .filter(({ length }) => length === 1)
    .flat();
}

/** What a description lacks so that two of its rows differ in their unique attributes, in words. */
export async function lacksOfUnique(described: Described, unique: string[], own: Fixtures): Promise<string[]> {
  const { noun, attributes, defaults, least, refersTo } = described;
  const known = unique.filter((name) => attributes[name]);
  const place = `in test/support/resources/: ${noun} are unique by it`;
  const bodies = [
    { ...least(), ...(await refersTo?.(own)) },
    { ...least(), ...(await refersTo?.(own)) },
  ];
  const same = equalIn(bodies, known);
  // The rows of the other requests are made by `least`.
  if (same.length > 0) return same.map((name) => `\`least\` makes the same ${name} twice: count it up ${place}`);
  const changes = equalIn(await patchesOf(described, own), known);
  return [
    ...changes.map((name) => `The PATCH of \`requests\` sets the same ${name} twice: change something else ${place}`),
    ...known
      .filter((name) => name in defaults && !attributes[name].fresh)
      .map((name) => `${name} needs \`fresh\` in \`attributes\` ${place}, and may be null`),
  ];
}

/** Two bodies of the PATCH of one row. */
async function patchesOf({ requests }: Described, own: Fixtures): Promise<Body[]> {
  const prepare = Object.entries(requests).find(([route]) => /^PATCH .*\/:\w+$/.test(route))?.[1];
  if (!prepare) return [];
  const prepared = [await prepare(own), await prepare(own)];
  return prepared.map(({ body }) => (body ?? {}) as Body);
}

const equalIn = ([one = {}, other = {}]: Body[], names: string[]): string[] =>
  names.filter((name) => one[name] !== undefined && one[name] !== null && one[name] === other[name]);
