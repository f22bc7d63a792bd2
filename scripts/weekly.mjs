import { spawnSync } from 'node:child_process';
import { unknownLicences } from './licences.mjs';

/** npm run weekly: checks what changes without a change in this repository, and fails if somebody has to act. */
const WINDOWS = process.platform === 'win32';

function npm(...parameters) {
  const { stdout, stderr, status } = spawnSync('npm', parameters, {
    encoding: 'utf8',
    shell: WINDOWS,
    maxBuffer: 2 ** 28,
  });
  return { stdout, stderr, status };
}

/** Known vulnerabilities of the packages in production. Some registries, such as company mirrors, don't report them. */
function audit() {
  const { stdout, stderr } = npm('audit', '--omit=dev', '--json');
  const { vulnerabilities, error, message } = parse(stdout);
  if (!vulnerabilities) {
    const reason = stderr.split('\n').find((line) => /^npm (warn|error) audit/.test(line)) ?? '';
    console.log(`The registry doesn't tell of weaknesses: ${error?.summary || message || reason}`);
    return true;
  }
  const found = Object.values(vulnerabilities);
  for (const { name, severity, range } of found) console.log(`${severity}: ${name} ${range}`);
  console.log(`${found.length} packages with known weaknesses`);
  return found.length === 0;
}

/** For information: Dependabot, or a person, updates them. */
function outdated() {
  const { stdout, stderr } = npm('outdated');
  console.log(stdout.trim() || stderr.trim() || 'Everything is up to date');
  return true;
}

function licences() {
  const { packages, unknown } = unknownLicences(parse(npm('query', '.prod').stdout));
  for (const { name, licence } of unknown) {
    console.log(
      `${name}: ${licence ?? 'no licence'} is not in the list of scripts/licences.mjs; read it, then add it or the package`,
    );
  }
  console.log(`${packages} packages, ${unknown.length} with a licence that nobody has looked at`);
  return unknown.length === 0;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const steps = { audit, outdated, licences };
const asked = process.argv.slice(2);
let passed = true;
for (const name of asked.length > 0 ? asked : Object.keys(steps)) {
  console.log(`\n== ${name}`);
  passed = steps[name]() && passed;
}
process.exitCode = passed ? 0 : 1;
