import { Load } from './load';
import { HELP, type LoadOptions, readOptions } from './options';
import { reportOf } from './report';

/** `npm run load`: see {@link HELP}. */
async function run(options: LoadOptions): Promise<void> {
  const load = await Load.prepare(options);
  process.once('SIGINT', () => load.stop());
  process.stdout.write(`${options.rate} requests a second to ${options.url} for ${options.seconds} seconds\n`);
  await load.run();
  process.stdout.write('Comparing what the service has with what it has acknowledged\n');
  await load.verify();
  load.close();
  const { text, isGood } = reportOf(load.journal, options);
  process.stdout.write(text);
  process.exitCode = isGood ? 0 : 1;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') return void process.stdout.write(HELP);
  await run(options);
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
