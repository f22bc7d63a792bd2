export type Row = Record<string, string | number>;

/** Rows as lines, their columns as wide as needed. */
export function tableOf(rows: Row[]): string {
  if (rows.length === 0) return '';
  const names = Object.keys(rows[0]);
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name])))];
  const widths = names.map((_name, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column])).join('  ')).join('\n');
}
