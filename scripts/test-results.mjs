// Reads the results that Jest wrote by --json: `failing FILE` lists the failed test files, `count FILE [AGAIN]` prints
// the numbers of passed and failed tests, `names FILE [AGAIN]` the failed tests. A file that ran again counts as in the
// second run. A suite without results is one failure.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [command, first, again] = process.argv.slice(2);

/** Undefined if the suite ended before it wrote results. */
function resultsOf(file) {
  if (!existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')).testResults;
}

function failing(file) {
  return resultsOf(file).filter(({ status }) => status === 'failed');
}

/** A file that failed before its first test is one failure. */
function countOf(results) {
  const statuses = results.flatMap(({ status, assertionResults }) =>
    assertionResults.length === 0 && status === 'failed' ? ['failed'] : assertionResults.map((test) => test.status),
  );
  return ['passed', 'failed'].map((wanted) => statuses.filter((status) => status === wanted).length);
}

/** Without a second run the first one counts. */
function lastResults() {
  const later = again ? resultsOf(again) : [];
  const names = later.map(({ name }) => name);
  return [...resultsOf(first).filter(({ name }) => !names.includes(name)), ...later];
}

function namesOf({ name, status, assertionResults }) {
  const file = relative('.', name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (status === 'failed' && failed.length === 0) return [`${file}: the file as a whole`];
  return failed.map(({ fullName }) => `${file}: ${fullName}`);
}

if (command === 'failing') {
  for (const { name } of failing(first)) console.log(name);
} else if (command === 'names') {
  for (const name of lastResults().flatMap(namesOf)) console.log(name);
  if (!existsSync(first)) console.log(`${first} was never written: the suite as a whole`);
} else {
  const results = lastResults();
  const [passed, failed] = countOf(results);
  // A suite that failed without naming a test counts as one failure.
  const broken = results.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.length > 0 && assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  console.log(passed, failed + broken + (existsSync(first) ? 0 : 1));
}
