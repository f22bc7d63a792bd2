import fc from 'fast-check';
import { GrowingBuffer } from '../../../src/platform/http/growing-buffer';

describe('A growing buffer', () => {
  it('is empty without a piece', () => {
    expect(new GrowingBuffer().whole()).toEqual(Buffer.alloc(0));
  });

  it('is the one piece itself, which is not copied', () => {
    const piece = Buffer.from('hello');
    const buffer = new GrowingBuffer();
    buffer.add(piece);
    expect(buffer.whole().buffer).toBe(piece.buffer);
  });

  it('is its pieces, one after the other, and leaves them as they are', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 8 }), (pieces) => {
        const buffer = new GrowingBuffer();
        const before = pieces.map((piece) => Buffer.from(piece));
        for (const piece of pieces) buffer.add(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
        expect(buffer.size).toBe(Buffer.concat(pieces).length);
        expect(buffer.whole().equals(Buffer.concat(before))).toBe(true);
        expect(pieces.map((piece) => Buffer.from(piece))).toEqual(before);
      }),
    );
  });
});
