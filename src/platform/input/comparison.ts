export type Operator = '=' | '>' | '>=' | '<' | '<=' | 'IS NULL' | 'IS NOT NULL';

/** What a caller asks of an attribute of a list's rows. It can't be changed: requests with the same query share it. */
export class Comparison {
  /** @param parameter the parameter that asks for it, such as `amount[gte]` */
  constructor(
    readonly parameter: string,
    readonly attribute: string,
    readonly operator: Operator,
    readonly value?: string | number | boolean,
  ) {
    Object.freeze(this);
  }

  /** SQL. @param column the column of the attribute @param place where the value stands in the statement */
  condition(column: string, place: string): string {
    return this.value === undefined ? `${column} ${this.operator}` : `${column} ${this.operator} ${place}`;
  }
}

/** What a query asks of attributes, whatever class it is of. */
export function comparisonsIn(query: object): Comparison[] {
  const found: Comparison[] = [];
  for (const value of Object.values(query)) if (value instanceof Comparison) found.push(value);
  return found;
}
