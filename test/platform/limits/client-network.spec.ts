import { queueKeysOf, neighbourhoodOf, regionOf } from '../../../src/platform/limits/client-network';

describe('A network', () => {
  it.each([
    ['192.0.2.7', '192.0.2', '192.0'],
    ['::ffff:192.0.2.7', '192.0.2', '192.0'],
    ['2001:db8:1:2::3', '2001:db8:1::/48', '2001:db8::/32'],
    ['2001:DB8:1:ffff::3', '2001:db8:1::/48', '2001:db8::/32'],
    ['2001:db8:0:2::3', '2001:db8::/48', '2001:db8::/32'],
    ['2001:db8::3', '2001:db8::/48', '2001:db8::/32'],
    ['2001::3', '2001::/48', '2001::/32'],
    ['2001:0:5::3', '2001:0:5::/48', '2001::/32'],
    ['::1', '::1', '::1'],
    [undefined, 'unknown', 'unknown'],
  ])('of %s is near to %s and in %s', (address, neighbourhood, region) => {
    expect(neighbourhoodOf(address)).toBe(neighbourhood);
    expect(regionOf(neighbourhood)).toBe(region);
    expect(queueKeysOf(address)[0]).toBe(neighbourhood);
  });
});
