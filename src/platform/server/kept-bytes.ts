import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GrowingBuffer } from '../http/growing-buffer';
import { neighbourhoodOf } from '../limits/client-network';
import { MemoryBudget } from '../limits/memory-budget';
import { kibibytes, mebibytes } from '../units';

/** Bytes that a connection may send ahead. With more, it isn't read any further. One read brings no more than this. */
const MAX_KEPT = kibibytes(64);
/** Fewer bytes aren't counted: the system and Node buffer as much for each connection anyway. */
const FREE = kibibytes(16);
/** Bytes that were sent ahead on all connections of this process, and the share of one network. */
const MAX_OF_ALL = mebibytes(64);
const MAX_OF_NETWORK = MAX_OF_ALL / 4;

/** The error code by which the parser stops after the headers of a request: HPE_PAUSED of llhttp. */
export const PAUSE = 21;

/** Node's HTTP parser, used by one connection at a time. */
export interface Parser {
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  resume(): void;
}

/** A connection of Node's server. */
export interface ServerSocket extends Socket {
  /** Null when another protocol has begun. */
  parser?: Parser | null;
  /** True while answers wait to be read, and Node doesn't parse. */
  _paused?: boolean;
  /** Null when the connection is closed. */
  _handle?: { reading: boolean; readStart(): void; readStop(): void } | null;
  /** The response that Node is writing on the connection. */
  _httpMessage?: ServerResponse | null;
}

/** Node's error when its parser has stopped. */
interface Pause extends NodeJS.ErrnoException {
  rawPacket: Buffer;
  /** The number of bytes of the packet. */
  bytesParsed: number;
}

export const isPause = (error: NodeJS.ErrnoException): error is Pause => error.code === 'HPE_PAUSED';

const room = new MemoryBudget();

/**
 * The bytes after a waiting request. The connection is still read, because that is how the end of its client is
 * noticed, but only up to {@link MAX_KEPT}.
 */
export class KeptBytes {
  /** Joined: an object for each of many small packets would take hundreds of times their memory. */
  private kept?: GrowingBuffer;
  private taken = 0;
  /** Whether the connection isn't read while it is paused. */
  private isStopped = false;
  /** Node's own listener, which passes bytes to the parser. */
  private readonly feed: (bytes: Buffer) => void;
  private readonly network: string;
  private readonly add: (bytes: Buffer) => void;

  constructor(private readonly socket: ServerSocket) {
    this.add = this.take.bind(this);
    [this.feed] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    this.network = neighbourhoodOf(socket.remoteAddress);
    socket.once('close', () => this.giveBack());
    socket.on('pause', () => this.stopReading()).on('resume', () => this.read());
  }

  /**
   * Node stops reading a paused connection, e.g. when an answer doesn't leave at once. It forgets both to stop and to begin
   * again where a listener for bytes was added meanwhile, see {@link keep}, and would keep each packet in a buffer of its
   * own. For the stream the connection is still read: it would begin again by itself.
   */
  private stopReading(): void {
    this.socket._handle?.readStop();
    this.isStopped = true;
  }

  private read(): void {
    const { _handle: handle, _paused: isPaused } = this.socket;
    if (!handle || isPaused || (handle.reading && !this.isStopped)) return;
    this.isStopped = false;
    handle.reading = true;
    handle.readStart();
  }

  /** Keeps the rest of a packet, and what arrives from now on. */
  keep({ rawPacket, bytesParsed }: Pause): void {
    // With a listener, bytes go through the stream. Without one, they go straight to the parser.
    this.socket.on('data', this.add).off('data', this.feed);
    this.take(rawPacket.subarray(bytesParsed));
  }

  /** Passes all kept bytes to the parser, which may stop again. */
  parse(): void {
    const { socket, kept } = this;
    if (!kept) return;
    if (socket._paused) return void socket.once('drain', () => this.parse());
    socket.on('data', this.feed).off('data', this.add);
    this.kept = undefined;
    socket.parser?.resume();
    // The parser also continues with an empty piece, but not with a buffer without memory. An empty piece is part of a packet.
    this.feed(kept.whole());
    if (!this.isKeeping) this.goOn();
  }

  /** The parser may have stopped again. */
  private get isKeeping(): boolean {
    return this.kept !== undefined;
  }

  private take(bytes: Buffer): void {
    const isFirst = !this.kept;
    const { kept = (this.kept = new GrowingBuffer()) } = this;
    kept.add(bytes);
    if (kept.size > MAX_KEPT) this.socket.pause();
    else if (isFirst) this.resume();
    if (!this.reserveMemory(kept.size)) this.socket.destroy();
  }

  /** Reads on, unless Node waits until answers are read. */
  private resume(): void {
    if (!this.socket._paused) this.socket.resume();
  }

  /** Continues as if nothing had been sent ahead. */
  private goOn(): void {
    this.giveBack();
    if (this.socket.parser) this.resume();
  }

  private reserveMemory(size: number): boolean {
    const more = size - this.taken;
    if (size <= FREE || more <= 0) return true;
    if (room.taken + more > MAX_OF_ALL || room.takenBy(this.network) + more > MAX_OF_NETWORK) return false;
    this.taken += more;
    room.add(this.network, more);
    return true;
  }

  private giveBack(): void {
    if (this.taken > 0) room.add(this.network, -this.taken);
    this.taken = 0;
  }
}
