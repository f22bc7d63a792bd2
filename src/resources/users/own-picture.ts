import type { EntityManager } from 'typeorm';
import { type ApiError, validationError } from '../../platform';

/**
 * For callers who may only show pictures of their own. The user of a picture never changes; whether it may be shown at the
 * commit is decided by a foreign key.
 * @throws {ApiError} the same as for a picture that there isn't
 */
export async function requireOwnPicture(manager: EntityManager, image: string, userId: number): Promise<void> {
  const found = await manager.query<unknown[]>('SELECT FROM pictures WHERE key = $1 AND user_id = $2', [image, userId]);
  if (found.length === 0) throw notAPicture();
}

/** 400 for a key that is no picture of the user. */
export const notAPicture = (): ApiError =>
  validationError([{ field: 'image', rule: 'fkey', message: 'must be the key of a public picture of yours' }]);
