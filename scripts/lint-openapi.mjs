// npm run lint:openapi: both linters over both documents, as they are checked in. What they may not find is explained in
// docs/openapi-lint.md.
import { spawnSync } from 'node:child_process';

const DOCUMENTS = ['docs/openapi.v1.json', 'docs/openapi.v2.json'];
const LINTERS = [
  ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--config', 'redocly.yaml'],
  // Whatever it has to say is a failure, not only an error.
  ['node_modules/@stoplight/spectral-cli/dist/index.js', 'lint', '--ruleset', '.spectral.yaml', '--fail-severity=hint'],
];
/** Neither linter calls anybody. */
const env = {
  ...process.env,
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  REDOCLY_SUPPRESS_NOTIFICATIONS: 'true',
};

const statuses = LINTERS.map(
  (linter) => spawnSync(process.execPath, [...linter, ...DOCUMENTS], { stdio: 'inherit', env }).status,
);
process.exit(statuses.every((status) => status === 0) ? 0 : 1);
