import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { Type } from '@nestjs/common';
import fc from 'fast-check';
import { publicName } from '../../src/platform/docs/json-schema';
import type { ApiError } from '../../src/platform/errors/api-error';
import type { Controller } from '../../src/platform/http/route-parameters';
import { toXml } from '../../src/platform/http/xml';
import { type Declared, declaredBy } from '../../src/platform/input/declared-types';
import { attributesOf, type DtoClass } from '../../src/platform/input/fields';
import { ValidationPipe } from '../../src/platform/input/validation.pipe';
import { inputClasses } from '../../src/platform/pipeline/route-input';
import { parseXml } from '../../src/platform/pipeline/xml-body';
import { Arbitraries } from '../support/arbitraries';
import { Document, type Node } from '../support/openapi';
import { useSpecimens } from '../support/specimens';
import { withoutTypes } from '../support/xml';

/** What no rule, or hardly any, takes for a value. */
const JUNK = [null, true, -1, 1.5, 1e300, [], [null], {}, { a: 1 }, [[]]];
/** Texts, which are what is declared if they can be: `1` is a number then, and an empty text an empty list. */
const TEXTS = ['', ' ', 'x', '1', 'true', 'a\u2028b', ['']];
const RUNS = 150;

describe('A body in XML', () => {
  const api = useSpecimens();
  const pipe = new ValidationPipe();
  let bodies: { name: string; type: Type<object>; schema: Node }[];
  let arbitraries: Arbitraries;

  beforeAll(async () => {
    const document = new Document((await api.get('//docs/json')).body);
    const { schemas } = document.json.components;
    arbitraries = new Arbitraries(schemas);
    const classes = bodyClasses();
    bodies = Object.entries<Node>(schemas).flatMap(([name, schema]) => {
      const type = classes.get(name);
      return type && schema.type === 'object' ? [{ name, type, schema }] : [];
    });
  });

  /** The classes of all inputs, by the names of their schemas. */
  function bodyClasses(): Map<string, Type<object>> {
    const scanner = new MetadataScanner();
    const controllers = api.app.nest.get(DiscoveryService, { strict: false }).getControllers();
    const classes = controllers.flatMap(({ metatype }) => {
      if (!metatype) return [];
      const controller = metatype as unknown as Controller;
      const names = scanner.getAllMethodNames(controller.prototype);
      return names.flatMap((name) => inputClasses(controller.prototype[name] as object, controller));
    });
    return new Map(classes.map((one) => [publicName(one.name), one]));
  }

  /** What comes of a body: the valid value, or the error's fields. */
  async function outcomeOf(type: Type<object>, make: () => unknown): Promise<unknown> {
    try {
      return JSON.stringify(await pipe.transform(await make(), { type: 'body', metatype: type }));
    } catch (error) {
      const { fields } = error as ApiError;
      if (!fields) throw error;
      return fields;
    }
  }

  it('is asked of the bodies of all resources', () => {
    expect(bodies.length).toBeGreaterThan(5);
  });

  it('has the result of the same body in JSON, valid or not', async () => {
    for (const { type, schema } of bodies) {
      await fc.assert(
        fc.asyncProperty(
          arbitraries.of(schema),
          fc.constantFrom(...attributesOf(type as DtoClass), 'colour', 'a b'),
          fc.option(fc.constantFrom(...JUNK, ...TEXTS), { nil: undefined }),
          async (valid, name, junk) => {
            const value = junk === undefined ? valid : { ...(valid as object), [name]: junk };
            const json = JSON.stringify(value);
            const expected = await outcomeOf(type, () => JSON.parse(json));
            const ofXml = (declared?: Declared) => outcomeOf(type, () => parseXml(toXml(json), declared));
            expect(await ofXml()).toEqual(expected);
            if (!(TEXTS as unknown[]).includes(junk)) expect(await ofXml(declaredBy(type))).toEqual(expected);
          },
        ),
        { numRuns: RUNS },
      );
    }
  });

  it('needs no types for what its class declares', async () => {
    // What an object of any names holds, no class declares.
    const declared = bodies.filter(({ schema }) => !JSON.stringify(schema).includes('additionalProperties":true'));
    expect(declared.length).toBeGreaterThan(5);
    for (const { type, schema } of declared) {
      await fc.assert(
        fc.asyncProperty(arbitraries.of(schema), async (value) => {
          const json = JSON.stringify(value);
          const xml = withoutTypes(toXml(json));
          expect(await outcomeOf(type, () => parseXml(xml, declaredBy(type)))).toEqual(
            await outcomeOf(type, () => JSON.parse(json)),
          );
        }),
        { numRuns: RUNS },
      );
    }
  });
});
