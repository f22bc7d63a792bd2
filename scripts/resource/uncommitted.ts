import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './plan';

/** A command that adds a resource writes its files within this time, in milliseconds. */
const WRITING_TIME = 10_000;

/**
 * @param paths files and folders. Default: the whole work tree
 * @returns the files whose changes git doesn't have
 * @throws {Refusal} where there is no commit to go back to
 */
export function uncommitted(paths: string[] = []): string[] {
  const command = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--', ...paths];
  const { status, stdout } = spawnSync('git', command, { encoding: 'utf8' });
  if (status !== 0 || !hasCommit()) {
    throw new Refusal(['This is no git repository with a commit, to which you could go back']);
  }
  return stdout.split('\0').flatMap((line) => line.slice(3) || []);
}

/** @throws {Refusal} */
export function requireCommitted(paths?: string[]): void {
  const files = uncommitted(paths);
  if (files.length > 0) throw new Refusal(files.map((path) => `${path}: has changes that are not committed`));
}

/** The text of the last commit; undefined if there is none. */
export function committedText(path: string): string | undefined {
  const { status, stdout } = spawnSync('git', ['show', `HEAD:./${path}`], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

/** Whether a file, or each file of a folder, is as old as a command that has written it at this time, in milliseconds. */
export function isAsWritten(path: string, time: number): boolean {
  if (!existsSync(path)) return true;
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs <= time + WRITING_TIME;
  return readdirSync(path).every((name) => isAsWritten(join(path, name), time));
}

const hasCommit = (): boolean => spawnSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD']).status === 0;
