import fc from 'fast-check';
import { addressIn } from '../../../src/platform/limits/client-address';

describe('The address in a member of X-Forwarded-For', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:5001', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['[::ffff:192.0.2.1]:80', '192.0.2.1'],
    ['::ffff:c000:201', '::ffff:c000:201'],
    ['unknown', undefined],
    ['_hidden', undefined],
    ['', undefined],
    ['192.0.2.1:', undefined],
    ['192.0.2.256', undefined],
    ['192.0.2.1.', undefined],
    ['[192.0.2.1', undefined],
    ['192.0.2.1 ', undefined],
    [`${'0'.repeat(101)}`, undefined],
    [undefined, undefined],
  ])('of %j is %j', (text, address) => {
    expect(addressIn(text)).toBe(address);
  });

  it('is the same with a port and without', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 65_535 }), (address, port) => {
        expect(addressIn(`${address}:${port}`)).toBe(address);
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 65_535 }), (address, port) => {
        expect(addressIn(`[${address}]:${port}`)).toBe(addressIn(address));
      }),
    );
  });
});
