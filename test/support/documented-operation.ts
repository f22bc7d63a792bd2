import { RESOURCES } from './resources';
import { type Answer, Client } from '../../src/platform/testing';
import { CHUNK_TYPE } from '../../src/uploads/tus/upload-headers';
import { type Node, type Operation } from './openapi';

/** Sends an operation with the ids of its examples, or with others. */
export function send(
  caller: Client,
  one: Operation,
  body?: unknown,
  others: Record<string, string> = {},
): Promise<Answer> {
  const examples = Object.fromEntries(pathParameters(one).map(({ name, example }) => [name, example]));
  const path = one.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => others[name] ?? examples[name]);
  const required = (one.spec.parameters as Node[]).filter(
    (parameter) => parameter.in === 'header' && parameter.required,
  );
  const headers = Object.fromEntries(required.map((parameter) => [parameter.name, examplesIn(parameter)[0]]));
  const type = body instanceof Uint8Array && { 'Content-Type': CHUNK_TYPE };
  // What the caller says itself counts.
  return caller
    .preferring({ ...headers, ...type })
    .send(one.method.toUpperCase(), `/${path}${others.search ?? ''}`, body);
}

export function takes({ spec }: Operation, header: string): boolean {
  return (spec.parameters as Node[]).some(({ name }) => name === header);
}

export function pathParameters({ spec }: Operation): Node[] {
  return (spec.parameters as Node[]).filter((parameter) => parameter.in === 'path');
}

export function takesBytes({ spec }: Operation): boolean {
  return spec.requestBody?.content[CHUNK_TYPE] !== undefined;
}

export function exampleOf(one: Operation): Node {
  return takesBytes(one) ? Buffer.from('x') : one.spec.requestBody?.content['application/json'].example;
}

/** The examples of a parameter or of an attribute. */
export function examplesIn({ example, examples, schema }: Node): unknown[] {
  return example === undefined ? (examples ?? schema?.examples ?? []) : [example];
}

/** What makes comes first; what is deleted goes before what it belongs to, and first of all what nothing here belongs to. */
export function rank({ method, path }: Operation): number {
  const nouns = [...RESOURCES].reverse().flatMap(({ noun }) => (noun === 'users' ? ['auth', noun] : [noun]));
  // A link needs an upload that a PATCH has completed.
  if (method !== 'delete') return method === 'post' && !path.includes('{key}') ? -2 : -1;
  return Math.max(
    nouns.findIndex((noun) => path.includes(`/${noun}`)),
    0,
  );
}
