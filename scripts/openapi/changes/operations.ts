import { isDeepStrictEqual } from 'node:util';
import { compareAccess } from './access';
import { Changes, type Direction, pairs } from './change';
import { type Header, type MediaTypes, type Operation, type Parameter, resolved } from './document';
import { compareSchemas, type Documents } from './schemas';

/** What a parameter is without saying so. */
const EXPLODED_STYLE = 'form';

/** Compares one operation. */
export function compareOperations(before: Operation, after: Operation, documents: Documents, to: Changes): void {
  if (before.operationId !== after.operationId) {
    to.breaks(`is called ${after.operationId}, not ${before.operationId}, which generated clients call`);
  }
  if (after.deprecated && !before.deprecated) to.adds('is deprecated');
  const [tookList, takesList] = [before, after].map((one) => one['x-list-of-inputs'] !== undefined);
  if (tookList !== takesList) to.add(tookList, `takes ${takesList ? 'also a list' : 'no list'} of inputs now`);
  compareAccess(before, after, documents, to);
  compareParameters(before, after, documents, to);
  compareBodies(before.requestBody, after.requestBody, documents, to);
  compareAnswers(before, after, documents, to);
}

function compareParameters(before: Operation, after: Operation, documents: Documents, to: Changes): void {
  const [olds, news] = [before, after].map(({ parameters = [] }, index) => parametersIn(parameters, documents[index]));
  for (const [name, old, now] of pairs(olds, news)) {
    if (!now) to.breaks(`${name}: is gone`);
    else if (!old) to.add(now.required === true, `${name}: is new${now.required ? ', and required' : ''}`);
    else compareParameter(name, old, now, documents, to);
  }
}

/** By kind and name. The name of a parameter in the path is nothing that a caller sends: its place counts. */
function parametersIn(parameters: Parameter[], document: Documents[0]): Record<string, Parameter> {
  const places = { path: 0 };
  const entries = parameters.map((one) => {
    const parameter = resolved(one, document);
    const name = parameter.in === 'path' ? `${++places.path} in the path` : parameter.name;
    return [`${parameter.in === 'header' ? 'header' : 'parameter'} ${name}`, parameter] as const;
  });
  return Object.fromEntries(entries);
}

function compareParameter(name: string, old: Parameter, now: Parameter, documents: Documents, to: Changes): void {
  const [wasRequired, isRequired] = [old, now].map(({ required = false }) => required);
  if (wasRequired !== isRequired) to.add(isRequired, `${name}: is ${isRequired ? 'required' : 'optional'} now`);
  if (now.deprecated && !old.deprecated) to.adds(`${name}: is deprecated`);
  if (!isDeepStrictEqual(styleOf(old), styleOf(now))) {
    to.breaks(`${name}: is written in the style ${styleOf(now).join(' ')}, not ${styleOf(old).join(' ')}`);
  }
  if (old.schema && now.schema) compareSchemas(old.schema, now.schema, name, 'input', documents, to);
}

function styleOf({ style = EXPLODED_STYLE, explode = style === EXPLODED_STYLE }: Parameter): string[] {
  return [style, explode ? 'exploded' : 'in one piece'];
}

type Body = Operation['requestBody'];

function compareBodies(before: Body, after: Body, documents: Documents, to: Changes): void {
  const [old, now] = [before, after].map((body, index) => body && resolved(body, documents[index]));
  if (old && !now) to.breaks('the body: is gone');
  else if (now && !old) to.add(now.required === true, `the body: is new${now.required ? ', and required' : ''}`);
  if (!old || !now) return;
  const [wasRequired, isRequired] = [old, now].map(({ required = false }) => required);
  if (wasRequired !== isRequired) to.add(isRequired, `the body: is ${isRequired ? 'required' : 'optional'} now`);
  compareContents(old.content, now.content, { at: 'the body', direction: 'input' }, documents, to);
}

interface Content {
  at: string;
  direction: Direction;
}

function compareContents(
  before: MediaTypes | undefined,
  after: MediaTypes | undefined,
  { at, direction }: Content,
  documents: Documents,
  to: Changes,
): void {
  for (const [mediaType, old, now] of pairs(before, after)) {
    if (!now) to.breaks(`${at}: is no longer ${mediaType}`);
    else if (!old) to.adds(`${at}: may also be ${mediaType}`);
    else if (old.schema && now.schema) compareSchemas(old.schema, now.schema, at, direction, documents, to);
  }
}

/** A success that wasn't there is breaking, as no program expects it. Any request may fail in a new way. */
function compareAnswers(before: Operation, after: Operation, documents: Documents, to: Changes): void {
  for (const [status, old, now] of pairs(before.responses, after.responses)) {
    const isSuccess = status.startsWith('2');
    if (!now) to.add(isSuccess, `status ${status}: is gone`);
    else if (!old) to.add(isSuccess, `status ${status}: is new`);
    else {
      const [oldAnswer, newAnswer] = [resolved(old, documents[0]), resolved(now, documents[1])];
      const place: Content = { at: `the answer ${status}`, direction: 'output' };
      compareContents(oldAnswer.content, newAnswer.content, place, documents, to);
      compareHeaders(`header of the answer ${status}`, oldAnswer.headers, newAnswer.headers, documents, to);
    }
  }
}

type Headers = Record<string, Header> | undefined;

function compareHeaders(at: string, before: Headers, after: Headers, documents: Documents, to: Changes): void {
  for (const [name, old, now] of pairs(before, after)) {
    if (!now) to.breaks(`${name}, ${at}: is gone`);
    else if (!old) to.adds(`${name}, ${at}: is new`);
    else {
      const [oldHeader, newHeader] = [resolved(old, documents[0]), resolved(now, documents[1])];
      if (oldHeader.required && !newHeader.required) to.breaks(`${name}, ${at}: is not always there now`);
      if (oldHeader.schema && newHeader.schema) {
        compareSchemas(oldHeader.schema, newHeader.schema, `${name}, ${at}`, 'output', documents, to);
      }
    }
  }
}
