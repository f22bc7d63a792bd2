import type { Readable } from 'node:stream';
import type { Holder } from '../places';

/** Inclusive, as in HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Where the bytes of uploads are kept: on a disk, or in a bucket. Everything is named by its key, which we have chosen. What
 * lies behind the offset that was acknowledged doesn't count: whoever goes on there writes over it.
 */
export abstract class ByteStore {
  /** How long to gather bytes at most before they are made safe, in milliseconds. */
  abstract readonly segmentTime: number;
  /** Whether finished bytes can't be written over. */
  abstract readonly sealing: boolean;
  /** Whether there is only so much room, which uploads take from each other. */
  abstract readonly finite: boolean;

  /** How many bytes of an upload of that size to gather, from that offset on, before they are made safe. */
  abstract segmentSize(offset: number, size: number): number;

  /** @throws {ApiError} INSUFFICIENT_STORAGE when so many bytes more are too many */
  abstract requireRoom(bytes: number): Promise<void>;

  abstract create(key: string, size: number, holder: Holder): Promise<void>;

  /**
   * Resolves with the new offset when all that came is safe. When it rejects, what was before the offset is as it was.
   * @param most how many bytes are missing: no more will come
   * @param holder whose turn it takes
   * @throws {ApiError} INSUFFICIENT_STORAGE when there is no room any more
   */
  abstract append(
    key: string,
    offset: number,
    bytes: AsyncIterable<Buffer>,
    most: number,
    holder: Holder,
  ): Promise<number>;

  /** How many bytes are there, of those that were acknowledged or more; undefined when there is no such upload. */
  abstract offsetOf(key: string, acknowledged: number): Promise<number | undefined>;

  /** All bytes are there: they can be read from now on. Does nothing when that was said before. */
  abstract finish(key: string, size: number): Promise<void>;

  /** Of what is finished. */
  abstract read(key: string, range?: ByteRange): Promise<Readable>;

  /** Does nothing when it isn't there. */
  abstract remove(key: string): Promise<void>;

  /** The keys of what was begun before. */
  abstract keysBefore(moment: Date): AsyncIterable<string>;
}
