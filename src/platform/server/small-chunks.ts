import type { IncomingMessage, Server } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Parser, ServerSocket } from './kept-bytes';

/** By what Node's parser has the function that it calls for each piece of a body: HTTPParser.kOnBody. */
const ON_BODY = 3;
/** Bytes: a smaller piece costs Node more than what is in it. */
const SMALL = 64;
/** Small pieces of one connection in a turn of the event loop; it is read on in the next. A packet of 64 KiB has 11,000. */
const MAX_OF_CONNECTION = 4_096;
/** Small pieces of all connections in a turn, some 120 ms of work. */
const MAX_OF_ALL = 100_000;

type OnBody = (this: BodyParser, bytes: Buffer) => void;

/** Node uses one for several connections, one after the other, its own clients' as well. */
interface BodyParser extends Parser {
  [ON_BODY]: OnBody | null;
  incoming: IncomingMessage | null;
  socket: (ServerSocket & { server?: Server }) | null;
  /** The latest turn with small pieces, and how many they were. */
  turn?: number;
  pieces?: number;
}

let onBody: OnBody;
let turn = 0;
let piecesOfAll = 0;

/**
 * Shares a turn of the event loop between connections whose bodies come in small chunks. Node calls a function for each chunk
 * of a packet, be it of one byte: a hundred connections with 64 KiB of them each would keep everybody else waiting for
 * seconds. So a connection has one such packet in a turn, and when many have one at once, those beyond a bound are closed.
 */
export function boundSmallChunks(server: Server): void {
  // Listeners of Node have given the connection its parser by then.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: ServerSocket) => {
    const parser = socket.parser as BodyParser;
    if (parser[ON_BODY] && parser[ON_BODY] !== counted) onBody = parser[ON_BODY];
    parser[ON_BODY] = counted;
  });
}

function counted(this: BodyParser, bytes: Buffer): void {
  if (bytes.length < SMALL && this.socket?.server && !hasPlace(this)) return giveUp(this);
  onBody.call(this, bytes);
}

function hasPlace(parser: BodyParser): boolean {
  if (piecesOfAll++ === 0) setImmediate(nextTurn);
  if (parser.turn !== turn) parser.pieces = 0;
  parser.turn = turn;
  if (++parser.pieces! === MAX_OF_CONNECTION) readOnLater(parser);
  return piecesOfAll <= MAX_OF_ALL;
}

function nextTurn(): void {
  turn++;
  piecesOfAll = 0;
}

/** What has come of the body must not be taken for all of it. The rest of the packet costs next to nothing then. */
function giveUp(parser: BodyParser): void {
  parser.incoming?.destroy();
  parser[ON_BODY] = null;
  setImmediate(() => (parser[ON_BODY] = counted));
}

function readOnLater({ incoming, socket }: BodyParser): void {
  const { _handle: handle } = socket as unknown as { _handle?: { readStop(): void; readStart(): void } };
  // Behind what Node does then: it reads on as soon as the packet is parsed.
  process.nextTick(() => handle?.readStop());
  setImmediate(() => {
    // Of a body that isn't read, Node itself reads on when it is.
    const isWanted = incoming!.readableLength < incoming!.readableHighWaterMark;
    if (isWanted && !socket!.destroyed && !socket!.isPaused()) handle?.readStart();
  });
}
