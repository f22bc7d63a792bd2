// The committed results, which `npm run bench -- --check` compares with.

/** The Node of the image. */
const USUAL_NODE = 24;
const RATIO = /\(([\d.,]+)\)$/;

/** The file of a Node, by its major version. */
export function resultsFile(major) {
  return major === USUAL_NODE ? 'bench/RESULTS.md' : `bench/RESULTS.node${major}.md`;
}

/**
 * Reads the table that report.mjs writes.
 * @param column the title of a server
 * @returns its ratios to L0, by the titles of works
 */
export function ratiosIn(text, column) {
  const section = text.split(/^## /m).find((one) => one.startsWith('Requests a second')) ?? '';
  const [head, , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const place = head?.indexOf(column) ?? -1;
  const ratios = new Map();
  for (const row of rows) {
    const [, ratio] = row[place]?.match(RATIO) ?? [];
    if (ratio !== undefined) ratios.set(row[0], Number(ratio.replaceAll(',', '')));
  }
  return ratios;
}

function cellsOf(line) {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
