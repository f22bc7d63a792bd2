import { ArgumentsError } from './seed-arguments';
import { runSeedCommand } from './seed-command';

runSeedCommand(process.argv.slice(2), process.stdout).catch((error: Error) => {
  const hint = error instanceof ArgumentsError ? '\nnpm run seed -- --help lists the options.' : '';
  process.stderr.write(`${error.message}${hint}\n`);
  process.exitCode = 1;
});
