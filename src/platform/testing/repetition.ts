export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function atOnce<T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<unknown> {
  return Promise.all(list.map(work));
}

/** The number of answers of each status. */
export function countStatuses(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
