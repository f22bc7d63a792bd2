import { requireBoundedJson } from '../../../src/platform/pipeline/bounded-json';

const MOST = 3;
/** Too many values, unless they are in a string. */
const MANY = '[,,,,'.repeat(2);

describe('Values of a JSON body', () => {
  it.each([
    ['a string', JSON.stringify(MANY)],
    ['a string after an escaped quotation mark', JSON.stringify(`"${MANY}`)],
    ['a string after escaped backslashes and a quotation mark', JSON.stringify(`\\\\"\\${MANY}`)],
    ['a string that nothing ends', `"${MANY}`],
    ['a string whose last byte is a backslash', `"${MANY}\\`],
  ])('are not counted in %s', (_where, json) => {
    expect(() => requireBoundedJson(Buffer.from(json), MOST)).not.toThrow();
  });

  it.each([
    ['a string', `"a"${MANY}`],
    ['a string that ends with a backslash', `${JSON.stringify('a\\')}${MANY}`],
    ['a string that ends with backslashes and a quotation mark', `${JSON.stringify('a\\\\"')}${MANY}`],
    ['an empty string', `""${MANY}`],
  ])('are counted after %s', (_where, json) => {
    expect(() => requireBoundedJson(Buffer.from(json), MOST)).toThrow();
  });
});
