export type Operator = '=' | '= ANY' | '>' | '>=' | '<' | '<=' | 'IS NULL' | 'IS NOT NULL';

export type Compared = [operator: Operator, value?: string | number | boolean | readonly number[]];

/** How ids are compared. PostgreSQL reads the rows of one id in the order of an index that begins with it. */
export const isOneOf = (ids: readonly number[]): Compared => (ids.length === 1 ? ['=', ids[0]] : ['= ANY', ids]);

/** What a caller asks of an attribute of a list's rows. It can't be changed: requests with the same query share it. */
export class Comparison {
  /** @param parameter the parameter that asks for it, such as `amount[gte]` */
  constructor(
    readonly parameter: string,
    readonly attribute: string,
    readonly operator: Operator,
    readonly value?: Compared[1],
  ) {
    // class-transformer makes the copy for a second ValidationPipe without arguments, and sets its attributes afterwards.
    if (parameter === undefined) return;
    Object.freeze(value);
    Object.freeze(this);
  }

  /** SQL. @param column the column of the attribute @param place where the value stands in the statement */
  condition(column: string, place: string): string {
    if (this.value === undefined) return `${column} ${this.operator}`;
    // An id may be greater than those of the column's type.
    return `${column} ${this.operator} ${this.operator === '= ANY' ? `(CAST(${place} AS bigint[]))` : place}`;
  }
}

/** What a query asks of attributes, whatever class it is of. */
export function comparisonsIn(query: object): Comparison[] {
  const found: Comparison[] = [];
  for (const value of Object.values(query)) if (value instanceof Comparison) found.push(value);
  return found;
}
