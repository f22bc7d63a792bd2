// Reads the results that Jest wrote by --json: `failing FILE` lists the failed test files, `count FILE [AGAIN]` prints
// the numbers of passed and failed tests, `names FILE [AGAIN]` the failed tests. A file that ran again counts as in the
// second run. A suite without results is one failure.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [command, first, again] = process.argv.slice(2);

/** None if the suite ended before it wrote results. */
function resultsOf(file) {
  if (!existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')).testResults;
}

function failing(file) {
  return resultsOf(file).filter(({ status }) => status === 'failed');
}

/** Without a second run the first one counts. */
function lastResults() {
  const later = again ? resultsOf(again) : [];
  const names = later.map(({ name }) => name);
  return [...resultsOf(first).filter(({ name }) => !names.includes(name)), ...later];
}

/** The failed tests. A suite without results, and a file that failed without naming a test, are one failure each. */
function failures(results) {
  const missing = existsSync(first) ? [] : [`${first} was never written: the suite as a whole`];
  return [...missing, ...results.flatMap(namesOf)];
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
  for (const name of failures(lastResults())) console.log(name);
} else {
  const results = lastResults();
  const passed = results
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed');
  console.log(passed.length, failures(results).length);
}
