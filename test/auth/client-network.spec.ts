import { lineKeysOf, neighbourhoodOf, regionOf } from '../../src/platform/limits/client-network';

describe('A network', () => {
  it.each([
    ['192.0.2.7', '192.0.2', '192.0'],
    ['::ffff:192.0.2.7', '192.0.2', '192.0'],
    ['2001:db8:1:2::3', '2001:db8:1', '2001:db8'],
    ['2001:db8:0:2::3', '2001:db8:0', '2001:db8'],
    ['2001:db8::3', '2001:db8', '2001:db8'],
    [undefined, 'unknown', 'unknown'],
  ])('of %s is near to %s and in %s', (address, neighbourhood, region) => {
    expect(neighbourhoodOf(address)).toBe(neighbourhood);
    expect(regionOf(neighbourhood)).toBe(region);
    expect(lineKeysOf(address)[0]).toBe(neighbourhood);
  });
});
