import { readdirSync, readFileSync } from 'node:fs';

/** The processes that a process has started, the oldest first. Linux only. */
export function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((one) => parentOf(one) === pid).sort((a, b) => a - b);
}

function parentOf(pid: number): number | undefined {
  try {
    // The name before it may have any characters.
    const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(parent);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
