import { posix } from 'node:path';
import { EXAMPLES_OF_TESTS, type Examples } from '../examples';
import { listed } from './source';

/** The files that make an application of the tests from the service and its examples, by path. */
export function applicationFiles(examples: Examples): Map<string, string> {
  const files: [string, string][] = [
    ['app.module.ts', moduleFile(examples)],
    ['declared.ts', declaredFile(examples)],
    ['main.ts', MAIN],
    ['seed.ts', SEED],
    ['tsconfig.build.json', JSON.stringify(COMPILER)],
  ];
  return new Map([
    ...files.map(([name, text]): [string, string] => [`${EXAMPLES_OF_TESTS}/${name}`, text]),
    ['test/support/application.ts', APPLICATION],
    ['test/support/application-places.json', JSON.stringify(PLACES)],
  ]);
}

const OUTPUT = `dist/examples/${EXAMPLES_OF_TESTS}`;
const TO_ROOT = posix.relative(EXAMPLES_OF_TESTS, '.');

const APPLICATION = `
/** The tested application: the service, and the examples that it has no more. */
export { AppModule } from './examples/app.module';
`;

const PLACES = {
  program: `${OUTPUT}/main.js`,
  seed: `${OUTPUT}/seed.js`,
  build: `${EXAMPLES_OF_TESTS}/tsconfig.build.json`,
  documents: EXAMPLES_OF_TESTS,
  migrations: [`${EXAMPLES_OF_TESTS}/migrations`],
};

const COMPILER = {
  extends: `${TO_ROOT}/tsconfig.json`,
  compilerOptions: { rootDir: TO_ROOT, outDir: `${TO_ROOT}/dist/examples`, types: ['node'], noCheck: true },
  include: ['.', `${TO_ROOT}/src`],
  exclude: [`${TO_ROOT}/src/platform/testing`],
};

const MAIN = `
// First, because it changes how all other files are loaded.
import '${TO_ROOT}/src/quick-start';
import { DemoAccounts } from '${TO_ROOT}/src/demo/demo-accounts';
import { run } from '${TO_ROOT}/src/platform/programs';
import { AppModule } from './app.module';

run(AppModule, { demo: (app) => app.get(DemoAccounts) });
`;

const SEED = `
import './declared';
import '${TO_ROOT}/src/seed/main';
`;

function moduleFile({ modules, exported }: Examples): string {
  return `
import { Module } from '@nestjs/common';
import { AppModule as Service } from '${TO_ROOT}/src/app.module';
import './declared';
${importing(modules, exported)}

/** The service and its examples. */
@Module({ imports: [Service, ${modules.join(', ')}] })
export class AppModule {}
`;
}

function declaredFile({ demo, seeds, exported }: Examples): string {
  return `
import { join } from 'node:path';
import { declareDemoRows } from '${TO_ROOT}/src/demo/demo-data';
import { declareMigrations } from '${TO_ROOT}/src/platform/programs';
import { declareSeeds } from '${TO_ROOT}/src/seed/rows/world';
import '${TO_ROOT}/src/seed/seeds';
${importing(demo, exported)}
${importing(seeds, exported)}

declareMigrations(join(__dirname, 'migrations'));
declareDemoRows(${demo.join(', ')});
declareSeeds(${seeds.join(', ')});
`;
}

const quoted = (names: string[]) => names.map((name) => `'${name}'`).join(', ');

/** Imports of the files that export these names. */
function importing(names: string[], exported: Examples['exported']): string {
  const files = [...new Set(names.map((name) => exported.get(name)!))].sort();
  return files
    .map((file) => {
      const own = names.filter((name) => exported.get(name) === file).sort();
      return `import { ${own.join(', ')} } from './${posix.relative(EXAMPLES_OF_TESTS, file).replace(/\.ts$/, '')}';`;
    })
    .join('\n');
}

/** Drops what the examples have made in a database of the service. Those of the tests make it afterwards. */
export function dropExamplesFile({ migrations }: Examples, time: number): string {
  const { tables, functions, classes } = migrations;
  return `
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { unauditRows, uncountRows } from '../platform';

const TABLES = [${quoted(tables)}];
const MIGRATIONS = [${quoted(classes)}];

/** The examples have left the service: ${listed(tables)}. */
export class DropExamples${time} implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await unauditRows(database, table);
      await uncountRows(database, table);
    }
    // What they show can be deleted again.
    await database.query('DELETE FROM shown_pictures WHERE table_name = ANY ($1)', [TABLES]);
    await database.query(\`DROP TABLE IF EXISTS \${TABLES.join(', ')}\`);
${functions.length > 0 ? `    await database.query('DROP FUNCTION IF EXISTS ${functions.join(', ')}');` : ''}
    // A service that gets the examples back makes their tables again.
    await database.query('DELETE FROM migrations WHERE name = ANY ($1)', [MIGRATIONS]);
  }

  /** Nothing can restore the rows. */
  async down(): Promise<void> {}
}
`;
}
