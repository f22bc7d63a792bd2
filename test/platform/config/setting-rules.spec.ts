import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { isDatabaseUrl, ListSetting, WholeSetting, YesOrNoSetting } from '../../../src/platform/config/setting-rules';

class Some {
  @WholeSetting(0, 10)
  COUNT: unknown = 0;

  @YesOrNoSetting()
  FLAG: unknown = false;

  @ListSetting()
  LIST: unknown = [];
}

/** What a setting is read as; undefined when it is refused. */
function read(name: keyof Some, text: string): unknown {
  const settings = plainToInstance(Some, { [name]: text });
  return validateSync(settings).length > 0 ? undefined : settings[name];
}

describe('A whole number of the settings', () => {
  it.each([
    ['0', 0],
    ['10', 10],
    ['007', 7],
    ['11', undefined],
    ['-1', undefined],
    ['+1', undefined],
    ['1.0', undefined],
    ['1e1', undefined],
    ['0x1', undefined],
    [' 1', undefined],
    ['', undefined],
    ['9'.repeat(17), undefined],
  ])('%j is %j', (text, value) => {
    expect(read('COUNT', text)).toBe(value);
  });
});

describe('A yes or no of the settings', () => {
  it.each([
    ['true', true],
    ['false', false],
    ['TRUE', undefined],
    ['1', undefined],
    ['yes', undefined],
    ['', undefined],
    ['toString', undefined],
  ])('%j is %j', (text, value) => {
    expect(read('FLAG', text)).toBe(value);
  });
});

describe('A list of the settings', () => {
  it.each([
    ['', []],
    [' , ,', []],
    ['a', ['a']],
    [' a, b ,,c ', ['a', 'b', 'c']],
  ])('%j is %j', (text, value) => {
    expect(read('LIST', text)).toEqual(value);
  });
});

describe('The URL of a database', () => {
  it.each([
    ['postgres://user:password@host:5432/name', true],
    ['postgresql://host/name', true],
    ['postgres://user@/name?host=/var/run/postgresql', true],
    ['mysql://host/name', false],
    ['postgres:/host', false],
    ['postgres://host:port/name', false],
    ['', false],
    [undefined, false],
  ])('%j: %s', (url, expected) => {
    expect(isDatabaseUrl(url)).toBe(expected);
  });
});
