import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The address that the documents show. */
const BASE = 'http://localhost:3000';
const TITLE = /^# .*$/gm;
const SHELL = /^```sh\n(.*?)^```/gms;
/** Stands before the output of each step. */
const MARK = '-- step --';

/** A comment in a document's commands, with what the commands below it print. */
export interface Step {
  title: string;
  output: string;
}

/** All commands that a document shows. */
export const commandsIn = (page: string): string => [...page.matchAll(SHELL)].map(([, block]) => block).join('\n');

export const titlesIn = (commands: string): string[] => (commands.match(TITLE) ?? []).map((line) => line.slice(2));

/**
 * Runs the commands in one shell, which a failed command ends.
 * @param url of the service, in place of the one that the document shows
 */
export async function takeTour(commands: string, url: string, cwd?: string): Promise<Step[]> {
  const script = commands.replaceAll(TITLE, `echo; echo '${MARK}'`).replaceAll(BASE, url);
  const { stdout } = await run('bash', ['-eu', '-c', script], { cwd });
  const [, ...outputs] = stdout.split(MARK);
  return titlesIn(commands).map((title, index) => ({ title, output: outputs[index]?.trim() ?? '' }));
}

/** The answers of several calls of `curl -s`, which prints nothing between them. */
export function answersIn(text: string): unknown[] {
  return text
    .replaceAll(/\}\{"(?=code|error)/g, '}\n{"')
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}
