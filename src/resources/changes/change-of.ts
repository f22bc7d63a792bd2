import type { Change } from '../../platform';
import type { ChangeDto } from './change.dto';

/** @param resource null if it is gone or hidden. Default: the answer doesn't tell it */
export function changeOf({ type, id, change, version, at }: Change, resource?: object | null): ChangeDto {
  return { type, id, change, version, at, ...(resource !== undefined && { resource }) };
}
