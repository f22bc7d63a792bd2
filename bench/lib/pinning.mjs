// Runs the server alone on one core, and PostgreSQL and the load on another, if the machine allows it.
import { spawnSync } from 'node:child_process';
import { childrenOf, coresOf } from './proc.mjs';

/**
 * @param wanted false pins nothing
 * @returns `{ server, others }`, numbers of cores, or `{ reason }` for not pinning
 */
export function chooseCores(wanted) {
  if (!wanted) return { reason: 'as --no-pin says' };
  if (spawnSync('taskset', ['--version']).error) return { reason: 'there is no taskset' };
  const [server, others] = coresOf(process.pid) ?? [];
  return others === undefined ? { reason: 'there is no second core' } : { server, others };
}

/** A command that runs on one core, or anywhere if that is undefined. */
export function pinned(core, command, words) {
  return core === undefined ? [command, words] : ['taskset', ['-c', String(core), command, ...words]];
}

/**
 * Moves PostgreSQL with all its processes. Processes that it starts later follow.
 * @returns a function that moves it back, or undefined if this user may not move it
 */
export function movePostgres(postmaster, core) {
  const before = coresOf(postmaster);
  if (!before || !move(postmaster, [core])) return undefined;
  const moveAll = (cores) => [postmaster, ...childrenOf(postmaster)].forEach((pid) => move(pid, cores));
  moveAll([core]);
  return () => moveAll(before);
}

/** Moves the harness, so that it doesn't disturb the server. */
export function moveMyself(core) {
  move(process.pid, [core]);
}

function move(pid, cores) {
  return spawnSync('taskset', ['-a', '-c', '-p', cores.join(','), String(pid)], { stdio: 'ignore' }).status === 0;
}
