/** A small generator of numbers in [0, 1), the same ones each time (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A few random changes: bytes replaced, inserted, removed, pieces repeated or cut off. */
export function mutate(text: string, random: () => number): Uint8Array {
  let bytes = Buffer.from(text, 'latin1');
  const anywhere = () => Math.floor(random() * (bytes.length + 1));
  const aByte = () => Buffer.from([Math.floor(random() * 256)]);
  const changes = [
    () => Buffer.concat([bytes.subarray(0, anywhere()), aByte(), bytes.subarray(anywhere())]),
    () => {
      const at = anywhere();
      return Buffer.concat([bytes.subarray(0, at), aByte(), bytes.subarray(at + 1)]);
    },
    () => {
      const at = anywhere();
      return Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n'), bytes.subarray(at)]);
    },
    () => bytes.subarray(0, anywhere()),
    () => Buffer.concat([bytes, bytes.subarray(anywhere())]),
  ];
  const count = 1 + Math.floor(random() * 4);
  for (let change = 0; change < count; change++) bytes = changes[Math.floor(random() * changes.length)]();
  return bytes;
}
