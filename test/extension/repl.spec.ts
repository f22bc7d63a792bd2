import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { PLACES } from '../support/tested-places';
import { useTestApi } from '../support/test-api';

/** `src/repl.ts` of Nest's documentation, on the built service. */
const REPL = `require('@nestjs/core').repl(require('./${dirname(PLACES.program)}/app.module').AppModule)`;

describe("Nest's REPL", () => {
  const api = useTestApi();

  it('calls services, and ends by .exit', async () => {
    const admin = api.as(await api.admin());
    const { body } = await admin.post('/products', { name: 'Seen in the REPL', price: 1 });
    const { PATH, TEST_DIRECTORY: DATA_DIR } = process.env;
    const env = { NODE_ENV: 'test', DATABASE_URL: api.app.databaseUrl, DATA_DIR, PATH };
    const repl = spawn(process.execPath, ['-e', REPL], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(repl, 'exit');
    let output = '';
    repl.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const says = async (text: string) => {
      while (!output.includes(text)) await once(repl.stdout, 'data');
    };
    try {
      await says('> ');
      repl.stdin.write(`get(ProductsService).get(${body.data.id}).then(({ name }) => console.log('It is', name))\n`);
      await says('It is Seen in the REPL');
      repl.stdin.write(
        "get('ProductRepository').countBy({ price: 1 }).then((count) => console.log('There are', count))\n",
      );
      await says('There are 1');
      repl.stdin.write('.exit\n');

      expect(await ended).toEqual([0, null]);
    } finally {
      repl.kill('SIGKILL');
    }
  });
});
