import type { Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, IsInt, IsOptional, Min, registerDecorator, validate, ValidateIf } from 'class-validator';
import fc from 'fast-check';
import { keepsRules } from '../../src/platform/input/compiled-rules';
import { inputClasses } from '../../src/platform/pipeline/route-input';
import { useSpecimens } from '../support/specimens';

const RUNS = 200;
/** The options of the service's own validation. */
const OPTIONS = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false };

/** Of JSON. */
const VALUES: unknown[] = [
  ...[undefined, null, true, false, 0, 1, -1, 2.5, 9.95, 1e300, NaN, '', ' ', 'a', 'Oak bench', 'a'.repeat(200)],
  ...['1', '-1', 'true', 'ACTIVE', 'DRAFT', 'PUBLISHED', 'USER', 'created_at', '-price', 'ada@example.com', '12.30'],
  ...[
    '2026-01-31',
    '2026-02-30',
    '2026-01-31T10:00:00Z',
    '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    'https://example.com/a',
  ],
  ...[[], ['a'], ['a', 1], [1, 2], [null], [{}], {}, { a: 1 }, [[1]], new Set([1])],
  ...[
    { product_id: 1, quantity: 2 },
    [{ product_id: 1, quantity: 2 }],
    [{ product_id: 1, quantity: 0 }],
    ['USER', 'ADMIN'],
  ],
];

class Base {
  @IsInt()
  @Min(1)
  count?: number;

  @IsOptional()
  @IsInt({ each: true })
  list?: number[];
}

class Derived extends Base {
  @ValidateIf(({ count }: Base) => count === 2)
  @IsInt()
  other?: number;
}

describe('The rules of a class of inputs', () => {
  const api = useSpecimens();

  const classes = (): Type<object>[] => {
    const controllers = api.app.nest.get(DiscoveryService, { strict: false }).getControllers();
    const all = controllers.flatMap(({ metatype }) => {
      const controller = metatype as Type<object>;
      const names = new MetadataScanner().getAllMethodNames(controller.prototype as object);
      return names.flatMap((name) => inputClasses((controller.prototype as Record<string, object>)[name], controller));
    });
    return [...new Set(all)];
  };
  const namesOf = (type: Type<object>) => [
    ...new Set(
      getMetadataStorage()
        .getTargetValidationMetadatas(type, '', false, false)
        .map((rule) => rule.propertyName),
    ),
  ];
  const make = (type: Type<object>, plain: object) => plainToInstance(type, plain, { exposeUnsetFields: false });
  /** The values that a property may have beside no others. */
  const validFor = async (type: Type<object>, name: string) => {
    const errors = await Promise.all(VALUES.map((value) => validate(make(type, { [name]: value }), OPTIONS)));
    return VALUES.filter((_, index) => !errors[index].some(({ property }) => property === name));
  };
  /** Objects that are valid more often than not. */
  const objectsOf = async (type: Type<object>) => {
    const anything = fc.constantFrom(...VALUES);
    const properties: Record<string, fc.Arbitrary<unknown>> = {};
    for (const name of namesOf(type)) {
      const valid = fc.constantFrom(...(await validFor(type, name)), undefined);
      properties[name] = fc.oneof({ weight: 30, arbitrary: valid }, { weight: 1, arbitrary: anything });
    }
    const object = fc.record(properties);
    const more = fc.record({ unknown: anything });
    return fc.oneof(
      { weight: 30, arbitrary: object },
      { weight: 1, arbitrary: fc.tuple(object, more).map((both) => Object.assign({}, ...both) as object) },
    );
  };

  it('are kept where class-validator finds no error, and nowhere else', async () => {
    const seen = { kept: 0, broken: 0 };
    const types = [...classes(), Base, Derived];
    expect(types.length).toBeGreaterThan(30);
    for (const type of types) {
      const check = fc.asyncProperty(await objectsOf(type), async (plain) => {
        const object = make(type, plain);
        const isKept = keepsRules(object);
        seen[isKept ? 'kept' : 'broken']++;
        // Without rules, and for what class-validator alone understands, it says nothing.
        const isSilent = namesOf(type).length === 0;
        expect(isKept).toBe(!isSilent && (await validate(object, OPTIONS)).length === 0);
      });
      await fc.assert(check, { numRuns: RUNS });
    }
    expect(seen.kept).toBeGreaterThan(RUNS);
    expect(seen.broken).toBeGreaterThan(RUNS);
  });

  it.each(['text', 1, null, {}])('are none of an object that calls %j its class', (constructor) => {
    expect(keepsRules({ constructor })).toBe(false);
  });

  it('are those that its class has got by now', () => {
    const object = Object.assign(new Derived(), { count: 3 });
    expect(keepsRules(object)).toBe(true);
    const never = { validate: () => false };
    registerDecorator({ target: Derived, propertyName: 'count', validator: never });
    expect(keepsRules(object)).toBe(false);
  });

  it('are left to class-validator once a rule has answered by a promise without having said so', () => {
    class Late {
      value = 1;
    }
    const never = jest.fn(() => Promise.reject(new Error('Not now')));
    registerDecorator({ target: Late, propertyName: 'value', validator: { validate: never } });
    expect([keepsRules(new Late()), keepsRules(new Late())]).toEqual([false, false]);
    expect(never).toHaveBeenCalledTimes(1);
  });

  it('are asked by class-validator if one of them takes its time', () => {
    const later = { validate: () => Promise.resolve(true) };
    registerDecorator({ target: Base, propertyName: 'list', async: true, validator: later });
    expect(keepsRules(Object.assign(new Base(), { count: 3 }))).toBe(false);
  });
});
