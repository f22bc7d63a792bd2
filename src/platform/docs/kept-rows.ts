import type { EntityMetadata } from 'typeorm';
import { nounOf } from '../errors/not-found';
import { singular } from './references';

/** An id at the end of a path, and the noun before it. */
const ONE_ROW = /\/([^/{}]+)\/\{[^{}]+\}$/;

/**
 * Whether a DELETE of a path may find that other rows keep its row (409): foreign keys without `onDelete` or with RESTRICT refer
 * to it, or to rows that go with it. A row that a DELETE only hides is kept by nothing.
 * @param entities all entities. The one of a path has its noun as its table, or as the name of its class
 */
export function keepingRows(entities: readonly EntityMetadata[]): (path: string) => boolean {
  const kept = new Set(entities.filter(({ deleteDateColumn }) => !deleteDateColumn).filter(isKept(entities)));
  const tables = new Set([...kept].map(({ tableName }) => tableName));
  const nouns = new Set([...kept].map(({ name }) => nounOf(name)));
  return (path) => {
    const [, noun = ''] = ONE_ROW.exec(path) ?? [];
    return tables.has(noun.replaceAll('-', '_')) || nouns.has(singular(noun));
  };
}

function isKept(entities: readonly EntityMetadata[]): (entity: EntityMetadata) => boolean {
  const keys = entities.flatMap(({ foreignKeys }) => foreignKeys);
  const refersTo = (entity: EntityMetadata, asked: EntityMetadata[]): boolean =>
    keys.some(({ referencedEntityMetadata, onDelete = 'NO ACTION', entityMetadata }) => {
      if (referencedEntityMetadata !== entity) return false;
      if (onDelete !== 'CASCADE') return onDelete === 'NO ACTION' || onDelete === 'RESTRICT';
      return !asked.includes(entityMetadata) && refersTo(entityMetadata, [...asked, entityMetadata]);
    });
  return (entity) => refersTo(entity, [entity]);
}
