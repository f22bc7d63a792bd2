import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { neighbourhoodOf } from '../limits/client-network';
import { SharedRoom } from '../limits/shared-room';

const KIBIBYTE = 1024;
/** Bytes that were sent ahead on a connection; when there are more, it is read no further. A read brings as many at most. */
const MAX_KEPT = 64 * KIBIBYTE;
/** Bytes of a connection that need no room: what the system and Node keep of it anyway. */
const FREE = 16 * KIBIBYTE;
/** Bytes that were sent ahead on all connections of this process, and of them the share of one network. */
const MAX_OF_ALL = 64 * KIBIBYTE * KIBIBYTE;
const MAX_OF_NETWORK = MAX_OF_ALL / 4;

/** By what the parser is told to stop behind the headers of a request: HPE_PAUSED of llhttp. */
export const PAUSE = 21;

/** Node's, of one connection at a time. */
export interface Parser {
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  resume(): void;
}

/** A connection of Node's server. */
export interface ServerSocket extends Socket {
  /** None any more when another protocol has begun. */
  parser?: Parser | null;
  /** Whether answers wait to be read, so that Node refuses to parse. */
  _paused?: boolean;
  /** The response that Node writes on it. */
  _httpMessage?: ServerResponse | null;
}

/** What Node tells when its parser has stopped. */
interface Pause extends NodeJS.ErrnoException {
  rawPacket: Buffer;
  /** Of the packet. */
  bytesParsed: number;
}

export const isPause = (error: NodeJS.ErrnoException): error is Pause => error.code === 'HPE_PAUSED';

const room = new SharedRoom();

/**
 * The bytes behind a request that waits. The connection is read meanwhile, as only that tells whether its client has gone, but
 * no more than {@link MAX_KEPT}.
 */
export class KeptBytes {
  private pieces: Buffer[] = [];
  private size = 0;
  private taken = 0;
  /** Node's own listener, which hands bytes to the parser. */
  private readonly feed: (bytes: Buffer) => void;
  private readonly network: string;

  constructor(private readonly socket: ServerSocket) {
    [this.feed] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    this.network = neighbourhoodOf(socket.remoteAddress);
    socket.once('close', () => this.giveBack());
  }

  /** Keeps what the parser has left of a packet, and what comes from now on. */
  keep({ rawPacket, bytesParsed }: Pause): void {
    // Such a listener also has the bytes come to the stream; until then they go straight to the parser.
    this.socket.on('data', this.add).off('data', this.feed);
    this.add(rawPacket.subarray(bytesParsed));
  }

  /** Hands all of them to the parser, which may stop again. */
  parse(): void {
    const { socket, pieces } = this;
    if (pieces.length === 0) return;
    if (socket._paused) return void socket.once('drain', () => this.parse());
    socket.on('data', this.feed).off('data', this.add);
    this.pieces = [];
    this.size = 0;
    socket.parser?.resume();
    // An empty piece makes the parser go on too, but not an empty buffer without memory, which concat() would return.
    this.feed(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
    if (this.pieces.length === 0) this.goOn();
  }

  private readonly add = (bytes: Buffer): void => {
    this.pieces.push(bytes);
    this.size += bytes.length;
    if (this.size > MAX_KEPT) this.socket.pause();
    else if (this.pieces.length === 1) this.resume();
    if (!this.takeRoom()) this.socket.destroy();
  };

  /** Unless Node holds it back, until answers have been read. */
  private resume(): void {
    if (!this.socket._paused) this.socket.resume();
  }

  /** As if nothing had been sent ahead. */
  private goOn(): void {
    this.giveBack();
    if (this.socket.parser) this.resume();
  }

  private takeRoom(): boolean {
    const more = this.size - this.taken;
    if (this.size <= FREE || more <= 0) return true;
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
