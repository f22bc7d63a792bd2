import { RESOURCES } from './resources';

/** The columns of a table of access. */
export const CALLERS = ['anonymous', 'owner', 'other', 'ADMIN', 'suspended', 'expired'] as const;
export type CallerKind = (typeof CALLERS)[number];

/** With the rows that stand in the descriptions of resources. */
export function withOwnRows(table: string): string {
  return [table, ...RESOURCES.map(({ access = '' }) => access)].join('\n');
}

/** `METHOD path and what follows it` to the statuses of the callers. */
export function parse(table: string): Record<string, string> {
  const [, ...lines] = table.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const words = line.trim().split(/\s+/);
      const cells = words.splice(-CALLERS.length);
      return [words.join(' '), cells.join(' ')];
    }),
  );
}
