import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The shell commands of a section of a page, block by block. */
export function shellBlocks(page: string, heading: string): string[] {
  const [, section] = page.split(`\n${heading}\n`);
  const end = section.search(/\n##? /);
  return [...section.slice(0, end).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands);
}

/** Runs commands as a reader of the page would. @throws {Error} with what they say, if one fails */
export async function runShell(commands: string, env: Record<string, string>): Promise<void> {
  const shell = spawn('sh', ['-euc', commands], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(shell, 'close')) as [number];
  if (code !== 0) throw new Error(`${commands}\n${said}`);
}
