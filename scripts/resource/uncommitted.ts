import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { Refusal } from './plan';

/** A command that adds a resource writes its files within this time, in milliseconds. */
const WRITING_TIME = 30_000;

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
export function requireCommitted(): void {
  const files = uncommitted();
  if (files.length > 0) throw new Refusal(files.map((path) => `${path}: has changes that are not committed`));
}

export function isCommitted(path: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `HEAD:./${path}`]).status === 0;
}

/** Whether a file is as old as a command that has written it at this time, in milliseconds. */
export function isAsWritten(path: string, time: number): boolean {
  return statSync(path).mtimeMs <= time + WRITING_TIME;
}

const hasCommit = (): boolean => spawnSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD']).status === 0;
