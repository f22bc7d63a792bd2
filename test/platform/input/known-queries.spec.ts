import { KnownQueries } from '../../../src/platform/input/known-queries';
import { times } from '../../../src/platform/testing';
import { ListProductsQuery } from '../../../src/resources/products/product.dto';

const aQuery = (values: object): ListProductsQuery => Object.assign(new ListProductsQuery(), values);

describe('A query that was valid before', () => {
  it('is known, as an object and lists of its own', () => {
    const known = KnownQueries.of(ListProductsQuery)!;
    const query = aQuery({ size: 5, ids: [1, 2] });
    known.keep('first', query);
    (query.ids as number[]).push(3);
    (known.find('first')!.ids as number[]).push(4);

    expect(known.find('first')).toEqual(aQuery({ size: 5, ids: [1, 2] }));
    expect(known.find('first')).toBeInstanceOf(ListProductsQuery);
    expect(known.find('second')).toBeUndefined();
  });

  it('is not pushed out by a walk, whose cursors come once', () => {
    const known = KnownQueries.of(ListProductsQuery)!;
    known.keep('first', aQuery({ size: 5 }));
    for (const key of times(2_000, String)) known.keep(key, aQuery({ size: 5, cursor: key }));

    expect(known.find('first')).toEqual(aQuery({ size: 5 }));
    expect(known.find('7')).toBeUndefined();
  });

  it('is one of a bounded number', () => {
    const known = KnownQueries.of(ListProductsQuery)!;
    for (const key of times(2_000, String)) known.keep(key, aQuery({ size: 5 }));

    expect(times(2_000, String).filter((key) => known.find(key)).length).toBeLessThanOrEqual(500);
    expect(known.find('1999')).toEqual(aQuery({ size: 5 }));
  });
});
