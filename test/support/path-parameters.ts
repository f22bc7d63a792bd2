import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Arbitraries } from './arbitraries';
import type { Document, Node } from './openapi';

/** Texts for a parameter of a path, made from what the document says of it. */
export interface PathTexts {
  /** Texts that it refuses. None if it takes every text. */
  wrong: string[];
  /** Texts that it takes, and that nothing has. None if each of its values is something, as those of an enum. */
  free: string[];
}

const WRONG_IDS = '0 -1 01 1e3 1%00 9223372036854775808'.split(' ');
const FREE_IDS = '999999999 9007199254740993 9223372036854775807'.split(' ');
const FREE_KEYS = [randomUUID(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
/** A parameter with a schema refuses at least one of these values. */
const UNUSUAL = ['x', 'GONE', '-1', '01', '1.5', 'a%20b', 'A_b', '%C3%A9', '%F0%9F%98%80', 'x'.repeat(300)];
const SAMPLES = { numRuns: 3, seed: 1 };

/** @param route e.g. `GET /api/v1/users/:id` */
export function pathTextsOf(document: Document, route: string, parameter: string): PathTexts {
  const schema = schemaOf(document, route, parameter);
  if (schema.enum) return { wrong: refused(document, schema), free: [] };
  if (schema.format === 'uuid') return { wrong: WRONG_IDS, free: FREE_KEYS };
  if (schema.type === 'integer') return { wrong: WRONG_IDS, free: FREE_IDS };
  const made = fc.sample(new Arbitraries(document.json.components.schemas).of(schema), SAMPLES) as string[];
  return { wrong: refused(document, schema), free: made.filter((text) => text !== '').map(encodeURIComponent) };
}

function refused(document: Document, schema: Node): string[] {
  return UNUSUAL.filter((text) => document.violations(schema, decodeURIComponent(text)).length > 0);
}

function schemaOf(document: Document, route: string, parameter: string): Node {
  const path = route.replaceAll(/:(\w+)/g, '{$1}');
  const operation = document.operations.find(({ name }) => name === path);
  const found = (operation?.spec.parameters as Node[] | undefined)?.find(
    (one) => one.in === 'path' && one.name === parameter,
  );
  if (!found) throw new Error(`${route} is in no document, or without :${parameter}: run npm run openapi`);
  return found.schema;
}
