import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { Position } from './cursor';
import { ROW } from './row-sizes';

export type Direction = 'ASC' | 'DESC';

/** A part of the list's rows that stand together in the index (column, id). */
export interface Range {
  /**
   * SQL that selects the rows.
   * @param column SQL of the column of a property
   * @param place SQL of one of the values, by its name
   */
  condition: (column: (property: string) => string, place: (name: 'value' | 'id') => string) => string;
  /** The values that the condition uses. PostgreSQL refuses a value that no condition uses. */
  values: Partial<Pick<Position, 'value' | 'id'>>;
}

/**
 * The rows after a position, as ranges in the order of the list. PostgreSQL sorts null after all values, and in descending
 * order before them.
 */
export function rangesAfter(
  metadata: EntityMetadata,
  sort: string,
  direction: Direction,
  position: Position | undefined,
): Range[] | undefined {
  if (!position) return undefined;
  const { value, id } = position;
  const beyond = direction === 'ASC' ? '>' : '<';
  const sameNull: Range = {
    condition: (column, place) => `${column(sort)} IS NULL AND ${column('id')} ${beyond} ${place('id')}`,
    values: { id },
  };
  const after: Range = {
    condition: (column, place) => `(${column(sort)}, ${column('id')}) ${beyond} (${place('value')}, ${place('id')})`,
    values: { value, id },
  };
  if (sort === 'id') {
    return [{ condition: (column, place) => `${column('id')} ${beyond} ${place('id')}`, values: { id } }];
  }
  if (!metadata.findColumnWithPropertyPath(sort)?.isNullable) return [after];
  const nulls: Range = { condition: (column) => `${column(sort)} IS NULL`, values: {} };
  const others: Range = { condition: (column) => `${column(sort)} IS NOT NULL`, values: {} };
  if (direction === 'ASC') return value === null ? [sameNull] : [after, nulls];
  return value === null ? [sameNull, others] : [after];
}

/** The condition of a range for TypeORM's query builder. */
export function builderCondition({ condition, values }: Range): [text: string, parameters: ObjectLiteral] {
  return [
    condition(
      (property) => `${ROW}.${property}`,
      (name) => `:${parameterOf(name)}`,
    ),
    parametersOf(values),
  ];
}

/** The name of a parameter of the query builder. A resource's own conditions may have an `:id` or a `:value`. */
export const parameterOf = (name: string): string => `cursor_${name}`;

export const parametersOf = (values: Range['values']): ObjectLiteral =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [parameterOf(name), value]));

/** The condition of a range for a statement of its own, whose values it adds to. */
export function plainCondition(
  { condition, values: own }: Range,
  column: (property: string) => string,
  values: unknown[],
): string {
  return condition(column, (name) => {
    values.push(own[name]);
    return `$${values.length}`;
  });
}
