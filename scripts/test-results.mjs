// What Jest wrote by --json: `failing FILE` lists the test files that failed, `count FILE [AGAIN]` prints how many tests passed
// and failed, where a file that ran again counts as it ran then. A suite that left no results is one failure.
import { existsSync, readFileSync } from 'node:fs';

const [command, first, again] = process.argv.slice(2);

/** None when the suite ended before it wrote them. */
function resultsOf(file) {
  if (!existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')).testResults;
}

function failing(file) {
  return resultsOf(file).filter(({ status }) => status === 'failed');
}

/** A file that broke before its first test is one failure. */
function countOf(results) {
  const statuses = results.flatMap(({ status, assertionResults }) =>
    assertionResults.length === 0 && status === 'failed' ? ['failed'] : assertionResults.map((test) => test.status),
  );
  return ['passed', 'failed'].map((wanted) => statuses.filter((status) => status === wanted).length);
}

if (command === 'failing') {
  for (const { name } of failing(first)) console.log(name);
} else {
  // Without a second run the first one counts, be it as it is.
  const later = again ? resultsOf(again) : [];
  const names = later.map(({ name }) => name);
  const results = [...resultsOf(first).filter(({ name }) => !names.includes(name)), ...later];
  const [passed, failed] = countOf(results);
  // A suite that broke without naming a test has failed as well.
  const broken = results.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.length > 0 && assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  console.log(passed, failed + broken + (existsSync(first) ? 0 : 1));
}
