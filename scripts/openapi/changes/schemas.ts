import { isDeepStrictEqual } from 'node:util';
import { compareBounds } from './bounds';
import { type Changes, type Direction, pairs } from './change';
import { type Document, resolved, type Schema } from './document';

/** The documents before and after, in which references are looked up. */
export type Documents = [before: Document, after: Document];

/** Where a comparison is: the name of the value for the reader, and who writes it. */
interface Place {
  at: string;
  direction: Direction;
  documents: Documents;
  to: Changes;
  /** The pairs of components that are being compared, as a schema may contain itself. */
  seen: Set<string>;
}

const ANY = ['any value'];

/** Compares what a value may be. */
export function compareSchemas(
  before: Schema,
  after: Schema,
  at: string,
  direction: Direction,
  documents: Documents,
  to: Changes,
): void {
  compare(before, after, { at, direction, documents, to, seen: new Set() });
}

function compare(before: Schema, after: Schema, place: Place): void {
  const key = `${before.$ref} ${after.$ref}`;
  if (before.$ref && after.$ref && place.seen.has(key)) return;
  const inner = { ...place, seen: new Set([...place.seen, key]) };
  const [old, now] = [flat(before, place.documents[0]), flat(after, place.documents[1])];
  const isPlain = [old, now].every((one) => !one.oneOf && !one.anyOf);
  if (isPlain) comparePlain(old, now, inner);
  else compareAlternatives(alternativesOf(old), alternativesOf(now), inner);
}

/** The schema with all parts of its `allOf` in one. */
function flat(schema: Schema, document: Document): Schema {
  const { allOf, ...own } = resolved(schema, document);
  return (allOf ?? []).reduce<Schema>((whole, part) => {
    const one = flat(part, document);
    const properties = { ...one.properties, ...whole.properties };
    const required = [...(one.required ?? []), ...(whole.required ?? [])];
    return { ...one, ...whole, ...(Object.keys(properties).length > 0 && { properties }), required };
  }, own);
}

const alternativesOf = (schema: Schema): Schema[] => schema.oneOf ?? schema.anyOf ?? [schema];

/** Pairs equal alternatives first, then those of one component or type; the others have come or gone. */
function compareAlternatives(before: Schema[], after: Schema[], place: Place): void {
  const [olds, news] = [[...before], [...after]];
  const take = (isPair: (old: Schema, now: Schema) => boolean) => {
    for (const old of [...olds]) {
      const found = news.find((now) => isPair(old, now));
      if (!found) continue;
      olds.splice(olds.indexOf(old), 1);
      news.splice(news.indexOf(found), 1);
      compare(old, found, place);
    }
  };
  take((old, now) => isDeepStrictEqual(old, now));
  take((old, now) => old.$ref !== undefined && old.$ref === now.$ref);
  take((old, now) => isDeepStrictEqual(typesIn(old, place.documents[0]), typesIn(now, place.documents[1])));
  const isInput = place.direction === 'input';
  for (const old of olds) place.to.add(isInput, `${place.at}: is no longer ${nameOf(old)}`);
  for (const now of news) place.to.add(!isInput, `${place.at}: may also be ${nameOf(now)}`);
}

const typesIn = (schema: Schema, document: Document): string[] => typesOf(flat(schema, document));

const nameOf = (schema: Schema): string => schema.$ref?.split('/').at(-1) ?? JSON.stringify(schema).slice(0, 80);

function comparePlain(before: Schema, after: Schema, place: Place): void {
  const { at, direction, to } = place;
  compareTypes(typesOf(before), typesOf(after), place);
  compareValues(before, after, place);
  compareBounds(before, after, at, direction, to);
  compareTexts(before, after, place);
  if (direction === 'input') compareDefaults(before.default, after.default, at, to);
  if (after.deprecated && !before.deprecated) to.adds(`${at}: is deprecated`);
  compareProperties(before, after, place);
  if (before.items && after.items) compare(before.items, after.items, { ...place, at: `${at}[]` });
}

function compareDefaults(old: unknown, now: unknown, at: string, to: Changes): void {
  if (isDeepStrictEqual(old, now)) return;
  if (old === undefined) to.adds(`${at}: has the default ${JSON.stringify(now)}`);
  else to.breaks(`${at}: the default is ${JSON.stringify(now) ?? 'gone'}, not ${JSON.stringify(old)}`);
}

function typesOf({ type, nullable, properties, items }: Schema): string[] {
  const implied = properties ? ['object'] : items ? ['array'] : ANY;
  return [...(type === undefined ? implied : [type].flat()), ...(nullable ? ['null'] : [])].sort();
}

function compareTypes(before: string[], after: string[], { at, direction, to }: Place): void {
  const [wide, narrow] = direction === 'input' ? [after, before] : [before, after];
  const isWithin = (type: string) =>
    wide === ANY || wide.includes(type) || wide.includes(ANY[0]) || (type === 'integer' && wide.includes('number'));
  if (isDeepStrictEqual(before, after)) return;
  to.add(!narrow.every(isWithin), `${at}: is ${after.join(' or ')}, not ${before.join(' or ')}`);
}

const valuesOf = ({ enum: values, const: only }: Schema): unknown[] | undefined =>
  values ?? (only === undefined ? undefined : [only]);

/** A value that an input loses breaks callers that send it; one that an output gains breaks those that know the others. */
function compareValues(before: Schema, after: Schema, { at, direction, to }: Place): void {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  const isInput = direction === 'input';
  if (!old && now) to.add(isInput, `${at}: is only one of ${now.join(', ')}`);
  if (old && !now) to.add(!isInput, `${at}: is no longer only one of ${old.join(', ')}`);
  if (!old || !now) return;
  for (const value of old.filter((one) => !now.includes(one))) to.add(isInput, `${at}: is no longer ${String(value)}`);
  for (const value of now.filter((one) => !old.includes(one))) to.add(!isInput, `${at}: may also be ${String(value)}`);
}

function compareTexts(before: Schema, after: Schema, { at, direction, to }: Place): void {
  const isInput = direction === 'input';
  if (before.format !== after.format) {
    const isLooser = isInput ? after.format === undefined : before.format === undefined;
    to.add(!isLooser, `${at}: has ${formatOf(after)}, not ${formatOf(before)}`);
  }
  // Nobody can tell which of two patterns is narrower.
  if (isInput && before.pattern !== after.pattern) {
    to.add(
      after.pattern !== undefined,
      `${at}: ${after.pattern ? `must match ${after.pattern}` : 'has no pattern now'}`,
    );
  }
}

const formatOf = ({ format }: Schema): string => (format === undefined ? 'no format' : `the format ${format}`);

function compareProperties(before: Schema, after: Schema, place: Place): void {
  const isInput = place.direction === 'input';
  const unwritten = isInput ? 'readOnly' : 'writeOnly';
  const isThere = (one: Schema | undefined): boolean => one !== undefined && one[unwritten] !== true;
  for (const [name, old, now] of pairs(before.properties, after.properties)) {
    const inner = { ...place, at: place.at === '' ? name : `${place.at}.${name}` };
    const [wasRequired, isRequired] = [before, after].map(({ required = [] }) => required.includes(name));
    if (!isThere(old) && !isThere(now)) continue;
    if (!isThere(now)) place.to.breaks(`${inner.at}: is gone`);
    else if (!isThere(old))
      place.to.add(isInput && isRequired, `${inner.at}: is new${isRequired && isInput ? ', and required' : ''}`);
    else {
      if (wasRequired !== isRequired) compareNeed(isRequired, inner);
      compare(old!, now!, inner);
    }
  }
  compareOthers(before.additionalProperties, after.additionalProperties, place);
}

function compareNeed(isRequired: boolean, { at, direction, to }: Place): void {
  if (direction === 'input') to.add(isRequired, `${at}: is ${isRequired ? 'required' : 'optional'} now`);
  else to.add(!isRequired, `${at}: is ${isRequired ? 'always there' : 'not always there'} now`);
}

type Others = Schema['additionalProperties'];

function compareOthers(before: Others, after: Others, place: Place): void {
  const { at, direction, to } = place;
  const isOpen = [before, after].map((one) => one !== false);
  if (direction === 'input' && isOpen[0] !== isOpen[1]) {
    to.add(!isOpen[1], `${at}: other attributes are ${isOpen[1] ? 'accepted' : 'refused'} now`);
  }
  if (typeof before === 'object' && typeof after === 'object') compare(before, after, { ...place, at: `${at}.*` });
}
