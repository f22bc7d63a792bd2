import { cpuOf, cpuOfEndedChildren, nameOf, parentOf } from './proc.mjs';

/** The backends of this database except the asking one, and the server's own processes. */
const PROCESSES = `SELECT pid FROM pg_stat_activity
  WHERE (datname IS NULL OR datname = current_database()) AND pid <> pg_backend_pid()`;

/** The pid of PostgreSQL's main process; undefined if it runs on another machine. */
export async function findPostmaster(client) {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  return nameOf(rows[0].pid) === 'postgres' ? parentOf(rows[0].pid) : undefined;
}

/** CPU time so far, for cpuBetween(); undefined without a postmaster. */
export async function postgresCpu(client, postmaster) {
  if (postmaster === undefined) return undefined;
  const { rows } = await client.query(PROCESSES);
  const alive = new Map(rows.map(({ pid }) => [pid, cpuOf(pid) ?? 0]));
  return { alive, ended: cpuOfEndedChildren(postmaster) };
}

/**
 * Milliseconds between two results of postgresCpu(). Parallel workers live for one statement; their time is counted
 * with ended children.
 */
export function cpuBetween(before, after) {
  if (!before || !after) return undefined;
  let used = after.ended - before.ended;
  for (const [pid, cpu] of after.alive) used += cpu - (before.alive.get(pid) ?? 0);
  for (const [pid, cpu] of before.alive) if (!after.alive.has(pid)) used -= cpu;
  return Math.max(0, used);
}
