import type { LoadCaller } from './callers';
import type { Journal } from './journal';
import type { Answer } from './sender';

/** One kind of request of the mix. */
export interface Work {
  /** How often it is sent, compared with the other reads, or the other writes. */
  weight: number;
  isRead: boolean;
  /** @param due when the request is due, by the clock of `performance` */
  run(caller: LoadCaller, due: number): Promise<void>;
}

/** The works of one resource, and what they know of it. */
export interface Subject {
  works: Work[];
  /** Compares what the service has with what it has acknowledged. */
  verify(callers: LoadCaller[]): Promise<void>;
}

/** True for an answer with the expected status. Any other is recorded. */
export function isExpected(journal: Journal, what: string, { status, body }: Answer, ...expected: number[]): boolean {
  if (expected.includes(status)) return true;
  const isAnswer = status > 0 && status < 500 && status !== 429;
  journal.findings.add(isAnswer ? 'wrong' : 'unanswered', `${what} was answered ${status} ${body?.error?.code ?? ''}`);
  return false;
}

const PAGE_SIZE = 100;

/** All rows of a list, page by page. */
export async function readAll<T extends { id: number }>(caller: LoadCaller, path: string): Promise<T[]> {
  const rows = new Map<number, T>();
  for (let page = 0; ; page++) {
    const query = `sort=id&size=${PAGE_SIZE}&page=${page}`;
    const { status, body } = await caller.send({
      method: 'GET',
      path: `${path}${path.includes('?') ? '&' : '?'}${query}`,
    });
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}, so nothing can be verified`);
    const data = body!.data as T[];
    for (const row of data) rows.set(row.id, row);
    if (data.length < PAGE_SIZE) return [...rows.values()];
  }
}

export const oneOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)];
