import { mkdir, statfs } from 'node:fs/promises';
import { ApiError } from '../../conventions/errors/api-error';
import { PRIVATE_DIRECTORY } from './private-directory';

const FULL = ['ENOSPC', 'EDQUOT'];

/** Makes the directory if need be. @throws {ApiError} INSUFFICIENT_STORAGE when less than `floor` bytes would stay free */
export async function requireFreeSpace(directory: string, floor: number, bytes: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize - bytes < floor) throw new ApiError('INSUFFICIENT_STORAGE');
}

/** INSUFFICIENT_STORAGE for a disk that is full before its floor is reached, or the quota of whom the service runs as. */
export function orFull(error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return FULL.includes(code) ? new ApiError('INSUFFICIENT_STORAGE', { cause: error }) : error;
}
