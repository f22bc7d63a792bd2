import { unusable, validationError } from './api-error';
import { toApiError } from './to-api-error';

/** What a service answers for a row that the caller may not read. */
const UNREADABLE = [403, 404];

/**
 * For references to rows that not everybody reads: 400 at the attribute for an id whose row the caller may not read, so that the
 * answer tells no more than that of an id without a row. The foreign key decides whether the row is still there at the commit.
 * @param ids undefined and null refer to nothing @param get the `get(id, caller)` of the resource's service
 * @throws {ApiError}
 */
export async function requireReadable(
  attribute: string,
  ids: number | readonly number[] | null | undefined,
  get: (id: number) => Promise<unknown>,
): Promise<void> {
  try {
    await Promise.all([ids ?? []].flat().map((id) => get(id)));
  } catch (error) {
    if (!UNREADABLE.includes(toApiError(error).status)) throw error;
    throw validationError([unusable(attribute)]);
  }
}
