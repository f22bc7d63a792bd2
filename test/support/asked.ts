import { DefaultNamingStrategy, getMetadataArgsStorage } from 'typeorm';

/** The nouns that `npm run conform` names. Undefined in other runs, where the tests of all resources ask all of them. */
export const NOUNS = process.env.CONFORM?.split(',');

/** Whether an expectation about the whole application holds in this run. */
export const ALL_ARE_ASKED = NOUNS === undefined;

/** A test, or a group of tests, for each item. A tuple is several arguments, as for `it.each()`. */
type ForEach<T> = (name: string, test: (...of: T extends readonly unknown[] ? [...T] : [T]) => unknown) => void;

/** `it.each()` of a list that may be empty, because a resource needn't have what the test asks about. */
export const itForEach = <T>(list: readonly T[]): ForEach<T> => forEach(it, list);
export const describeForEach = <T>(list: readonly T[]): ForEach<T> => forEach(describe, list);

function forEach<T>({ each }: { each: jest.Each }, list: readonly T[]): ForEach<T> {
  return list.length > 0 ? (each(list) as ForEach<T>) : () => undefined;
}

/**
 * Fails with these sentences alone, which say what a resource lacks and where it belongs.
 * @throws {Error} if there are any
 */
export function lacks(sentences: string[]): void {
  if (sentences.length === 0) return;
  const error = new Error(sentences.join('\n'));
  error.name = 'Lack';
  throw error;
}

/** The table of an entity, or undefined for a class that is none. */
export function tableOf(entity: abstract new () => object): string | undefined {
  const { tables } = getMetadataArgsStorage();
  for (let one: unknown = entity; typeof one === 'function'; one = Object.getPrototypeOf(one)) {
    const found = tables.find(({ target }) => target === one);
    if (found) return new DefaultNamingStrategy().tableName(one.name, found.name);
  }
  return undefined;
}
