/**
 * SQL for a list that is a parameter. A plan that knew how many values it has would cost less by its estimate than one for any
 * number, so PostgreSQL would plan a named statement each time, which takes several times as long as to find the rows. The
 * list comes from a subquery, into which no estimate looks.
 * @param type of one value, such as `bigint`
 * @param place the parameter, such as `$1`
 */
export const anyNumberOf = (type: string, place: string): string => `(SELECT ${place}::${type}[])::${type}[]`;
