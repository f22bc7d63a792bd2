import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Logger } from '@nestjs/common';

/** For the service's own user alone: what lies there belongs to whoever has sent it. */
export const PRIVATE_DIRECTORY = 0o700;
export const PRIVATE_FILE = 0o600;

/** Makes it if need be, and closes one that is there. What it lies in stays as open as it is. */
export function makePrivate(directory: string): void {
  mkdirSync(dirname(directory), { recursive: true });
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  try {
    chmodSync(directory, PRIVATE_DIRECTORY);
  } catch (error) {
    // A volume that is mounted there may be somebody else's.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    new Logger('Uploads').warn({ err: error }, 'Others on this machine may be able to look into the uploads');
  }
}
