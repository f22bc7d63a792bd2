import { type Done, isFailure, type Journal } from './journal';
import type { LoadOptions } from './options';

export interface Verdict {
  text: string;
  isGood: boolean;
}

/** What a run has shown, in words. */
export function reportOf(journal: Journal, { rate, slow, slowShare }: LoadOptions): Verdict {
  const { attempts, done, findings, unsent } = journal;
  const times = timesOf(done);
  const failed = attempts.filter(({ status }) => isFailure(status)).length;
  const refused = attempts.filter(({ status }) => status === 429).length;
  const isSlow = times.filter((ms) => ms > slow).length + unsent;
  const tooSlow = isSlow > slowShare * (times.length + unsent);
  const { lost, doubled, wrong, unanswered } = findings.counts;
  const lines = [
    `${done.length} requests at ${rate} a second, ${attempts.length} attempts`,
    `failed attempts ${failed} (sent again), refused by a limit ${refused}, not sent ${unsent}`,
    `milliseconds from the moment when each was due: ${percentiles(times)}`,
    `slow (over ${slow} ms) ${isSlow}${tooSlow ? ': too many' : ''}`,
    `lost ${lost}, doubled ${doubled}, wrong ${wrong}, never answered ${unanswered}`,
    ...findings.examples.map((example) => `  ${example}`),
  ];
  return { text: `${lines.join('\n')}\n`, isGood: findings.isEmpty && !tooSlow };
}

function percentiles(sorted: number[]): string {
  const at = (share: number) => percentile(sorted, share).toFixed(1);
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, max ${at(1)}`;
}

/** What so large a share of sorted numbers is at most; 0 of none. */
export const percentile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

/** Milliseconds from the moment when each request was due to its last answer, sorted. */
export const timesOf = (done: Done[]): number[] => done.map(({ ms }) => ms).sort((a, b) => a - b);
