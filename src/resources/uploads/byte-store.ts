import type { Readable } from 'node:stream';

/** Inclusive, as in HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Where the bytes of uploads are kept: on a disk, or in a bucket. Everything is named by its key, which we have chosen. */
export abstract class ByteStore {
  /** How many bytes to write before they are made safe. */
  abstract readonly segmentSize: number;
  /** How long to gather them at most, in milliseconds. */
  abstract readonly segmentTime: number;
  /** Whether what was written after the last safe byte can be written over. */
  abstract readonly rewritable: boolean;

  /** @throws {ApiError} INSUFFICIENT_STORAGE when so many bytes more are too many */
  abstract requireRoom(bytes: number): Promise<void>;

  abstract create(key: string, size: number): Promise<void>;

  /** Resolves with the new offset when all that came is safe. */
  abstract append(key: string, offset: number, bytes: Readable): Promise<number>;

  /** How many bytes are there; undefined when there is no such upload. */
  abstract offsetOf(key: string): Promise<number | undefined>;

  abstract read(key: string, range?: ByteRange): Promise<Readable>;

  /** Does nothing when it isn't there. */
  abstract remove(key: string): Promise<void>;

  /** The keys of what was begun before. */
  abstract keysBefore(moment: Date): AsyncIterable<string>;
}
