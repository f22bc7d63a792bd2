import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Logger } from '@nestjs/common';

/** Only for the service's own user, because the files belong to users. */
export const PRIVATE_DIRECTORY = 0o700;
export const PRIVATE_FILE = 0o600;

/** Creates the directory if needed, and restricts an existing one. Its parents keep their mode. */
export function makePrivate(directory: string): void {
  mkdirSync(dirname(directory), { recursive: true });
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  try {
    chmodSync(directory, PRIVATE_DIRECTORY);
  } catch (error) {
    // A mounted volume may belong to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    new Logger('Uploads').warn({ err: error }, 'Others on this machine may be able to look into the uploads');
  }
}
