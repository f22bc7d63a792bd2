import { ApiError, type ChangedType, declareErrors, validationError } from '../../platform';

const ChangesErrors = declareErrors({
  CHANGES_EXPIRED: { status: 410, message: 'The changes after this cursor are no longer kept' },
});

/** 410 for a mark whose changes may be gone. */
export const changesExpired = () =>
  new ApiError(ChangesErrors.CHANGES_EXPIRED, {
    details: 'Ask for cursor=now, read the collections again, and go on from that cursor',
  });

/** 400 for a text that is no mark. @param field the parameter or header */
export const notACursor = (field: string) =>
  validationError([{ field, rule: 'cursor', message: 'must be `now`, or a cursor of this feed' }]);

/**
 * The types that a caller names; all that it knows, if it names none.
 * @throws {ApiError} VALIDATION_ERROR for one that it doesn't know
 */
export function chosenTypes(known: ChangedType[], names: string | undefined): ChangedType[] {
  if (names === undefined) return known;
  const wanted = names.split(',');
  const unknown = wanted.filter((name) => !known.some((type) => type.name === name));
  if (unknown.length === 0) return known.filter(({ name }) => wanted.includes(name));
  const message = `must be names of ${known.map(({ name }) => name).join(', ')}`;
  throw validationError([{ field: 'types', rule: 'enum', message }]);
}
