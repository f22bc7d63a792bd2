// npm run lint:openapi: runs both linters over the documents of all versions. docs/openapi-lint.md explains the rules that
// are switched off.
import { spawnSync } from 'node:child_process';
import { makeWholes } from './documents';

const LINTERS = [
  ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--config', 'redocly.yaml'],
  // Warnings count as failures too.
  ['node_modules/@stoplight/spectral-cli/dist/index.js', 'lint', '--ruleset', '.spectral.yaml', '--fail-severity=hint'],
];
/** Both linters run offline. */
const env = {
  ...process.env,
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  REDOCLY_SUPPRESS_NOTIFICATIONS: 'true',
};

const documents = makeWholes();
const statuses = LINTERS.map(
  (linter) => spawnSync(process.execPath, [...linter, ...documents], { stdio: 'inherit', env }).status,
);
process.exit(statuses.every((status) => status === 0) ? 0 : 1);
