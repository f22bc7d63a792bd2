import { ForwardedAddresses } from '../../../src/platform/limits/forwarded-addresses';

describe('The client that a header names', () => {
  it('is found once for a value and a proxy', () => {
    const addresses = new ForwardedAddresses();
    const find = jest.fn((): string | undefined => '192.0.2.1');
    for (const proxy of ['10.0.0.1', '10.0.0.1', '10.0.0.2', undefined, undefined]) addresses.of(proxy, 'a, b', find);

    expect(find).toHaveBeenCalledTimes(3);
    expect(addresses.of('10.0.0.1', 'a', () => '192.0.2.2')).toBe('192.0.2.2');
    expect(addresses.of('10.0.0.1', 'a, b', () => '192.0.2.2')).toBe('192.0.2.1');
  });

  it('is remembered also if the value names none', () => {
    const addresses = new ForwardedAddresses();

    expect(addresses.of('10.0.0.1', 'unknown', () => undefined)).toBeUndefined();
    expect(addresses.of('10.0.0.1', 'unknown', () => '192.0.2.1')).toBeUndefined();
  });

  it.each([['x'.repeat(201)], [['192.0.2.1', '192.0.2.2']]])(
    'is found each time for what is not remembered',
    (value) => {
      const addresses = new ForwardedAddresses();

      expect(addresses.of('10.0.0.1', value, () => '192.0.2.1')).toBe('192.0.2.1');
      expect(addresses.of('10.0.0.1', value, () => '192.0.2.2')).toBe('192.0.2.2');
    },
  );

  it('is forgotten when clients have invented a thousand values', () => {
    const addresses = new ForwardedAddresses();
    addresses.of('10.0.0.1', 'first', () => '192.0.2.1');
    for (let value = 0; value < 1_000; value++) addresses.of('10.0.0.1', String(value), () => undefined);

    expect(addresses.of('10.0.0.1', 'first', () => '192.0.2.2')).toBe('192.0.2.2');
  });
});
