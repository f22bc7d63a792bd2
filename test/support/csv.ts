/** A field, quoted or not, and what ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;

/** The fields of each line of CSV, as RFC 4180 has them: undefined for an empty field without quotes. @throws {Error} for anything else */
export function fieldsOf(csv: string): (string | undefined)[][] {
  const lines: (string | undefined)[][] = [[]];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < csv.length) {
    const at = FIELD.lastIndex;
    const found = FIELD.exec(csv);
    if (!found) throw new Error(`No CSV at ${at}: ${JSON.stringify(csv.slice(at, at + 100))}`);
    const [, quoted, plain, end] = found;
    lines.at(-1)!.push(quoted?.replaceAll('""', '"') ?? (plain || undefined));
    if (end !== ',') lines.push([]);
  }
  return lines.slice(0, -1);
}
