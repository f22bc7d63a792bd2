import type { Request } from 'express';
import { parseId } from '../rows/parse-id';
import { isKey } from './key.pipe';

type Targets = Record<string, string | number>;

/** The ids and keys in the path, for the log. Undefined if there are none. Other text in a path is never logged. */
export function targetsOf({ params }: Request): Targets | undefined {
  let targets: Targets | undefined;
  for (const name in params) {
    const text = params[name];
    const target =
      typeof text === 'string' ? (parseId(text) ?? (isKey(text) ? text.toLowerCase() : undefined)) : undefined;
    if (target !== undefined) (targets ??= {})[name] = target;
  }
  return targets;
}
