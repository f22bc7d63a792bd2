import { RegionalShares } from '../../../src/platform/limits/regional-shares';
import { times } from '../../../src/platform/testing';

describe('The share of a region', () => {
  it('is what waits and what had its turn, until a thousand others have had theirs', () => {
    const shares = new RegionalShares();
    for (const region of ['a', 'a', 'b']) shares.take(region);
    shares.spend('a');
    shares.giveBack('b');
    expect(['a', 'b', 'c'].map((region) => shares.of(region))).toEqual([2, 0, 0]);
    times(1_000, () => {
      shares.take('b');
      shares.spend('b');
    });

    expect(['a', 'b'].map((region) => shares.of(region))).toEqual([1, 1_000]);
  });
});
