import type { Readable } from 'node:stream';
import type { Holder } from '../fair-slots';

/** Inclusive, as in HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Stores the bytes of uploads, on a disk or in a bucket, by their keys, which the service generates. Bytes after the
 * acknowledged offset don't count: the next write overwrites them.
 */
export abstract class ByteStore {
  /** The greatest time in which bytes are gathered before they are stored durably, in milliseconds. */
  abstract readonly segmentTime: number;
  /** True if finished bytes can't be overwritten. */
  abstract readonly sealing: boolean;
  /** True if the space is limited and shared by uploads. */
  abstract readonly finite: boolean;

  /** The number of bytes to gather from this offset on before they are stored durably. */
  abstract segmentSize(offset: number, size: number): number;

  /** @throws {ApiError} INSUFFICIENT_STORAGE when there is no room for so many bytes */
  abstract requireRoom(bytes: number): Promise<void>;

  abstract create(key: string, size: number, holder: Holder): Promise<void>;

  /**
   * Resolves to the new offset when all bytes are stored durably. If it rejects, the bytes before the old offset are
   * unchanged.
   * @param most the number of missing bytes, which bounds what arrives
   * @param holder the user and network that take turns
   * @throws {ApiError} INSUFFICIENT_STORAGE when there is no room left
   */
  abstract append(
    key: string,
    offset: number,
    bytes: AsyncIterable<Buffer>,
    most: number,
    holder: Holder,
  ): Promise<number>;

  /** The number of stored bytes, at least of those that were acknowledged; undefined if there is no such upload. */
  abstract offsetOf(key: string, acknowledged: number): Promise<number | undefined>;

  /** Makes a complete upload readable. A second call does nothing. */
  abstract finish(key: string, size: number): Promise<void>;

  /** Reads a finished upload. */
  abstract read(key: string, range?: ByteRange): Promise<Readable>;

  /** Does nothing if there is no such upload. */
  abstract remove(key: string): Promise<void>;

  /** The keys of uploads that were begun before a moment. */
  abstract keysBefore(moment: Date): AsyncIterable<string>;
}
