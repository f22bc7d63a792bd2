import { NestFactory } from '@nestjs/core';
import { StartupError } from '../platform';
import { hashPassword } from '../platform/accounts';
import { DatabaseServer } from '../platform/features';
import { environmentSettings } from '../platform/programs';
import { createProgress } from './progress';
import { help, parseArguments, type SeedArguments } from './seed-arguments';
import { seedDatabase, type SeedSummary } from './seed-database';
import { SeedModule } from './seed.module';

/**
 * @param words the command line after the name of the command
 * @throws {ArgumentsError}
 * @throws {StartupError}
 */
export async function runSeedCommand(words: string[], output: NodeJS.WritableStream): Promise<void> {
  const args = parseArguments(words);
  if (args.help) return void output.write(help());
  if (environmentSettings().production && !args.force)
    throw new StartupError('This is production (NODE_ENV), and the rows are invented: add --force to write them here.');
  const app = await NestFactory.createApplicationContext(SeedModule, { logger: ['warn'], abortOnError: false });
  // An embedded server of this process is stopped even after Ctrl+C.
  app.enableShutdownHooks(['SIGINT', 'SIGTERM']);
  try {
    output.write(describe(await seed(app.get(DatabaseServer).url, args, output), args));
  } finally {
    await app.close();
  }
}

async function seed(url: string, args: SeedArguments, output: NodeJS.WritableStream): Promise<SeedSummary> {
  const passwordHash = args.password === undefined ? null : await hashPassword(args.password);
  return seedDatabase(url, { ...args, passwordHash }, createProgress(output, args.counts));
}

function describe({ rows, seconds }: SeedSummary, { seed, password }: SeedArguments): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const width = Math.max(...Object.keys(rows).map((table) => table.length));
  const lines = Object.entries(rows).map(([table, count]) => `${table.padEnd(width)} ${format(count).padStart(12)}`);
  return [
    ...lines,
    `${format(total)} rows in ${seconds.toFixed(1)} s, ${format(total / seconds)} a second, from seed ${seed}.`,
    password === undefined
      ? 'The new users have no password and cannot sign in.'
      : 'The new users sign in with the password given.',
    '',
  ].join('\n');
}

function format(number: number): string {
  return Math.round(number).toLocaleString('en');
}
