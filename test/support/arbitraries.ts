import fc from 'fast-check';
import type { Node } from './openapi';

/** Usual lengths of long texts and lists: most are short, so that thousands of requests take seconds. */
const USUAL_LENGTH = 40;
const USUAL_ITEMS = 4;
/** Existing rows have small ids. */
const USUAL_NUMBER = 30;

/** The pattern of a text without its own: no control characters, and no blanks that would be trimmed. */
const ANY_TEXT = String.raw`^[^\p{Cc}\p{Zs}\p{Cs}]*$`;

/** Generates values that satisfy a schema. Supports the part of JSON Schema that the documents use. */
export class Arbitraries {
  constructor(private readonly schemas: Record<string, Node>) {}

  of(schema: Node): fc.Arbitrary<unknown> {
    if (schema.$ref) return this.of(this.resolve(schema));
    if (schema.allOf?.length === 1) return this.of(schema.allOf[0]);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives) return fc.oneof(...alternatives.map((one: Node) => this.of(one)));
    if (Array.isArray(schema.type)) {
      return fc.oneof(...schema.type.map((type: string) => this.of({ ...schema, type })));
    }
    return this.ofType(schema);
  }

  resolve(schema: Node): Node {
    return schema.$ref ? this.schemas[schema.$ref.split('/').at(-1)] : schema;
  }

  /** The text of a parameter in a URL or header, not encoded. */
  ofParameter({ name, schema }: Node): fc.Arbitrary<string> {
    return naming(name as string, () => this.of(schema)).map((value) =>
      Array.isArray(value) ? value.join(',') : String(value),
    );
  }

  private ofType(schema: Node): fc.Arbitrary<unknown> {
    switch (schema.type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return integers(schema);
      case 'number':
        return amounts(schema);
      case 'string':
        return this.ofString(schema);
      case 'array':
        return this.lists(schema);
      case 'object':
        return this.objects(schema);
      default:
        throw unknown(`a schema like ${JSON.stringify(schema)}`);
    }
  }

  private ofString(schema: Node): fc.Arbitrary<string> {
    if (schema.format === undefined || schema.pattern !== undefined) return texts(schema);
    const known = FORMATS[schema.format as string];
    if (!known) throw unknown(`texts of the format ${schema.format} (or give it a \`pattern\`)`);
    return known;
  }

  private lists({ items, minItems = 0, maxItems = USUAL_ITEMS, uniqueItems = false }: Node): fc.Arbitrary<unknown> {
    const bounds = { minLength: minItems, maxLength: Math.min(maxItems, minItems + USUAL_ITEMS) };
    return uniqueItems ? fc.uniqueArray(this.of(items), bounds) : fc.array(this.of(items), bounds);
  }

  private objects({ properties = {}, required = [] }: Node): fc.Arbitrary<object> {
    const attributes = Object.entries<Node>(properties).map(([name, schema]) => [
      name,
      naming(name, () => this.of(schema)),
    ]);
    return fc.record(Object.fromEntries(attributes) as Record<string, fc.Arbitrary<unknown>>, {
      requiredKeys: required,
      noNullPrototype: true,
    });
  }
}

/** The format accepts more than the service; see the list in the test. */
const EMAILS = fc.stringMatching(/^[a-z][a-z0-9+_-]{0,20}@[a-z]{1,20}\.example\.com$/);

const DAYS = fc.integer({ min: 0, max: 40_000 }).map((day) => new Date(day * 86_400_000));
/** Formats that hardly any generated text would have. */
const FORMATS: Record<string, fc.Arbitrary<string>> = {
  email: EMAILS,
  uuid: fc.uuid(),
  date: DAYS.map((day) => day.toISOString().slice(0, 10)),
  'date-time': DAYS.map((day) => day.toISOString()),
  time: fc.constantFrom('00:00:00Z', '23:59:59Z', '12:30:00+02:00'),
  uri: fc.webUrl(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  hostname: fc.domain(),
  duration: fc.constantFrom('P1D', 'PT1H30M', 'P1Y2M3DT4H5M6S', 'P2W'),
};

/** Adds the name of the attribute or parameter to an error. */
function naming<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

const unknown = (what: string): Error =>
  new Error(`the fuzz test can't make ${what}; teach it to in test/support/arbitraries.ts`);

function integers({
  minimum = Number.MIN_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
}: Node): fc.Arbitrary<number> {
  const usual = fc.integer({ min: minimum, max: Math.min(maximum, minimum + USUAL_NUMBER) });
  return fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: fc.maxSafeInteger().map(within) });
  function within(number: number): number {
    return Math.max(minimum, Math.min(maximum, number));
  }
}

/** Numbers with at most two decimals, as amounts of money have, or with one. */
function amounts({
  minimum = 0,
  maximum = Number.MAX_SAFE_INTEGER,
  'x-decimals': decimals = 2,
}: Node): fc.Arbitrary<number> {
  const unit = decimals === 1 ? 10 : 100;
  const amount = (units: number) => Math.max(minimum, Math.min(maximum, units / unit));
  return fc.oneof(
    fc.integer({ min: 0, max: 100_000 }).map(amount),
    fc
      .maxSafeInteger()
      .map(amount)
      .filter((one) => Number(one.toFixed(decimals)) === one),
  );
}

function texts({
  minLength = 0,
  maxLength = USUAL_LENGTH + minLength,
  pattern = ANY_TEXT,
}: Node): fc.Arbitrary<string> {
  const form = new RegExp(pattern, 'u');
  const fits = (text: string) => form.test(text) && [...text].length >= minLength && [...text].length <= maxLength;
  // Generated texts hardly ever match a pattern that does more than exclude characters, such as that of a digest.
  if (!pattern.startsWith('^[^') || !fits('x'.repeat(Math.max(1, minLength))))
    return fc.stringMatching(form, { maxLength }).filter(fits);
  const length = { minLength, maxLength: Math.min(maxLength, minLength + USUAL_LENGTH) };
  const any = (unit: 'grapheme' | 'grapheme-ascii') =>
    // Normalising may lengthen a text, which a schema can't express.
    fc.string({ unit, ...length }).map((text) => text.normalize('NFC'));
  const longest = fc.constantFrom('x', '😀').map((character) => character.repeat(maxLength));
  return fc.oneof(
    { weight: 4, arbitrary: any('grapheme-ascii').filter(fits) },
    ...(fits('é'.repeat(Math.max(1, minLength))) ? [{ weight: 4, arbitrary: any('grapheme').filter(fits) }] : []),
    ...(fits('😀'.repeat(maxLength)) ? [{ weight: 1, arbitrary: longest }] : []),
  );
}
