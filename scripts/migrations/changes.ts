import type { Catalog, Column } from './catalog';
import type { Finding } from './rules';

/** What a database has lost or demands since a moment, however the migration has done it. */
export function findingsBetween(before: Catalog, after: Catalog, renamed: Set<string>): Finding[] {
  const lost = [...lostOf(before, after)].filter((name) => !renamed.has(name));
  return [...lost.map((object): Finding => ({ rule: 'drop', object })), ...columnFindings(before, after)];
}

function lostOf(before: Catalog, after: Catalog): Set<string> {
  const tables = [...before.tables].filter((name) => !after.tables.has(name));
  const columns = [...before.columns.keys()].filter(
    (name) => !after.columns.has(name) && after.tables.has(tableOf(name)),
  );
  const routines = [...before.routines].filter((name) => !after.routines.has(name));
  const types = [...before.types].filter((name) => !after.types.has(name));
  return new Set([...tables, ...columns, ...routines, ...types]);
}

const tableOf = (column: string): string => column.split('.')[0];

function columnFindings(before: Catalog, after: Catalog): Finding[] {
  return [...after.columns].flatMap(([object, now]): Finding[] => {
    if (!before.tables.has(tableOf(object))) return [];
    const then = before.columns.get(object);
    const findings: Finding[] = [];
    if (then && !isWider(then.type, now.type)) {
      findings.push({ rule: 'type', object, detail: `${then.type} becomes ${now.type}` });
    }
    if (isNewlyDemanded(now, then) && !before.checked.has(object)) findings.push({ rule: 'not-null', object });
    return findings;
  });
}

/** A new column with a default may be NOT NULL: the last release doesn't name it. An old one it may set to NULL. */
function isNewlyDemanded(now: Column, then?: Column): boolean {
  return (now.demanded && !then?.demanded) || (!now.nullable && then?.nullable === true);
}

/** A text that may be longer than before, which changes no row. */
function isWider(then: string, now: string): boolean {
  if (then === now) return true;
  const [before, after] = [then, now].map((type) => /^character varying\((\d+)\)$/.exec(type)?.[1]);
  if (before === undefined) return then === 'character varying' && now === 'text';
  return now === 'text' || now === 'character varying' || Number(after) > Number(before);
}
