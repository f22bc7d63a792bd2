// npm run conform -- invoices credit-notes: asks these resources all that the tests ask every resource, on the embedded
// database, and says in words what they lack.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Results, reportOf } from './report';
import { SUITES } from './suites';

const LIST = 'test/support/resources.ts';
/** Enough for one resource; `npm run fuzz` sends more. */
const FUZZ_REQUESTS = '400';
/** Without them the tests start a database of their own, and count in memory. */
const OF_SERVERS = ['DATABASE_URL', 'REDIS_URL'];
const SECOND = 1_000;

/** The nouns of the resources that are described. */
function describedNouns(): string[] {
  const imports = readFileSync(LIST, 'utf8').matchAll(/ from '\.\/resources\/([\w-]+)'/g);
  return [...imports].map(([, noun]) => noun).sort();
}

/** What is wrong with the nouns; undefined if they can be asked. */
function refusalOf(nouns: string[], known: string[]): string | undefined {
  const list = `These resources are described in ${LIST}:\n  ${known.join(' ')}`;
  if (nouns.length === 0) return `Name the resources: npm run conform -- ${known[0]}\n${list}`;
  const unknown = nouns.filter((noun) => !known.includes(noun));
  return unknown.length > 0 ? `${unknown.join(', ')}: no such resource. ${list}` : undefined;
}

function ask(nouns: string[]): { results: Results; output: string } {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-conform-'));
  const file = join(directory, 'results.json');
  const jest = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${file}`, '--silent', '--runTestsByPath'];
  const env: NodeJS.ProcessEnv = { FUZZ_REQUESTS, ...process.env, CONFORM: nouns.join() };
  for (const name of OF_SERVERS) delete env[name];
  try {
    const command = [...jest, ...SUITES.map((suite) => suite.file)];
    const { stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env, maxBuffer: 2 ** 28 });
    const results = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : { testResults: [] };
    return { results, output: stderr };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function main(): number {
  const nouns = [...new Set(process.argv.slice(2))];
  const refusal = refusalOf(nouns, describedNouns());
  if (refusal) {
    console.error(refusal);
    return 1;
  }
  const start = Date.now();
  console.log(`Asking ${nouns.join(', ')} ...`);
  const { results, output } = ask(nouns);
  if (results.testResults.length === 0) console.error(output);
  const { lines, passed } = reportOf(SUITES, results, nouns);
  const seconds = Math.round((Date.now() - start) / SECOND);
  console.log(lines.join('\n'));
  console.log(`\n${nouns.join(', ')}: ${passed ? 'nothing is missing' : 'something is missing'} (${seconds} s)`);
  return passed ? 0 : 1;
}

process.exitCode = main();
