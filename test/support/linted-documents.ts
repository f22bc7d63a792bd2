import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LINTER = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--extends', 'spec'];

/** Expects that OpenAPI documents obey the specification, by Redocly. */
export function expectValid(...documents: unknown[]): void {
  const directory = mkdtempSync(join(tmpdir(), 'documents-'));
  try {
    const files = documents.map((document, index) => {
      const file = join(directory, `${index}.json`);
      writeFileSync(file, JSON.stringify(document));
      return file;
    });
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { status, stdout } = spawnSync(process.execPath, [...LINTER, ...files], { env, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
