import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Suite } from './suites';

/** The part of Jest's results that is reported. */
export interface Results {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages?: string[] | null }[];
  }[];
}

interface Failure {
  message: string;
  /** The names of the tests that failed in this way. */
  tests: string[];
}

const MAX_LINES = 10;
const MAX_FAILURES = 5;
/** The beginning of an error of `lacks()` in test/support/asked.ts, whose sentences need no test's name. */
const LACK = 'Lack: ';

/**
 * The lines of the report, and whether all tests passed. A suite without results has failed.
 * @param nouns the resources that were asked
 */
export function reportOf(
  suites: Suite[],
  { testResults }: Results,
  nouns: string[],
): { lines: string[]; passed: boolean } {
  const [noun] = nouns.length === 1 ? nouns : ['<noun>'];
  const reports = suites.map((suite) => {
    const result = testResults.find(({ name }) => relative('.', name).replaceAll('\\', '/') === suite.file);
    const tests = result?.assertionResults.filter(({ status }) => status !== 'pending') ?? [];
    const failures = failuresOf(result);
    const failed = tests.filter(({ status }) => status === 'failed').length;
    if (result && failures.length === 0) return { lines: [`✓ ${suite.checks} (${tests.length})`], passed: true };
    const count = failed > 0 ? `${failed} of ${tests.length} fail` : 'not asked';
    const place = suite.place.replaceAll('<noun>', noun);
    return { lines: [`✗ ${suite.checks} (${count})`, ...said(failures), `    See ${place}.`], passed: false };
  });
  return { lines: reports.flatMap(({ lines }) => lines), passed: reports.every(({ passed }) => passed) };
}

/** Failures with the same message are one. */
function failuresOf(result: Results['testResults'][number] | undefined): Failure[] {
  if (!result) return [{ message: 'The tests ended before these were asked', tests: [] }];
  const failures = new Map<string, Failure>();
  for (const { status, fullName, failureMessages } of result.assertionResults) {
    if (status !== 'failed') continue;
    const message = readable(failureMessages?.[0] ?? '');
    const failure = failures.get(message) ?? { message, tests: [] };
    failure.tests.push(fullName);
    failures.set(message, failure);
  }
  if (failures.size === 0 && result.status === 'failed') {
    return [{ message: readable(result.message), tests: [] }];
  }
  // A sentence says more than a difference.
  return [...failures.values()].sort((one, other) => Number(isLack(other)) - Number(isLack(one)));
}

const isLack = ({ message }: Failure): boolean => message.startsWith(LACK);

function said(failures: Failure[]): string[] {
  const shown = failures.slice(0, MAX_FAILURES).flatMap((failure) => {
    const lines = failure.message.replace(LACK, '').split('\n');
    if (isLack(failure)) return [...new Set(lines)].map((line) => `  - ${line}`);
    const [first, ...others] = failure.tests;
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    return [`  - ${first ?? 'The tests could not be started'}${more}:`, ...lines.map((line) => `      ${line}`)];
  });
  const rest = failures.length - MAX_FAILURES;
  return rest > 0 ? [...shown, `  - and ${rest} more failures, which often have the same cause`] : shown;
}

/** Without colours, stack, blank lines and the answer's body, and not longer than a reader reads. */
function readable(message: string): string {
  const lines = stripVTControlCharacters(message).split('\n');
  const end = lines.findIndex((line) => /^\s+at /.test(line));
  // Each item of a list has the same problem.
  const texts = lines.slice(0, end < 0 ? undefined : end).map((line) => line.replace(/^- \/data\/\d+/, '- /data/0'));
  const own = texts.filter(
    (line, index) =>
      line.trim() !== '' &&
      !/^\{"(code|error)":/.test(line) &&
      !(line.startsWith('- /data/0') && texts.indexOf(line) < index),
  );
  const text = own.slice(0, own[0]?.startsWith(LACK) ? undefined : MAX_LINES).join('\n');
  return text.replace(/^Error: (?:expect\(.*\n)?/, '');
}
