import type { IncomingMessage, Server } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Parser, ServerSocket } from './kept-bytes';

/** The index of the parser's callback for a piece of a body: HTTPParser.kOnBody. */
const ON_BODY = 3;
/** The same when a message is whole: HTTPParser.kOnMessageComplete. */
const ON_COMPLETE = 4;
/** The same when what was read is parsed, of a connection whose bytes go straight to the parser: HTTPParser.kOnExecute. */
const ON_EXECUTE = 5;
/** Bytes: a smaller piece costs Node more than what is in it. */
const SMALL = 64;
/** Small pieces of a connection in a window that nobody minds: the last chunks of ordinary bodies are small. */
const FEW = 64;
/** Milliseconds: how often the shares begin anew. */
const WINDOW = 100;
/**
 * Small pieces of all connections in a window, about 20 ms of work. Beyond it, a connection with more than a few waits for another
 * window.
 */
const MAX_OF_WINDOW = 20_000;
/** Small pieces of a connection, after which others have their turn. A packet of 64 KiB has 11,000. */
const MAX_OF_CONNECTION = 4_096;
/**
 * Small pieces of all connections that windows to come have to make up for, about 120 ms of work. Beyond it, connections with more
 * than a few are closed.
 */
const MAX_OF_ALL = 100_000;

/** The same symbol in each copy of this module. */
const NODES_OWN: unique symbol = Symbol.for('resource-api.parser') as never;

type OnBody = (this: BodyParser, bytes: Buffer) => void;
type OnComplete = (this: BodyParser) => void;

/** Node reuses a parser for several connections, those of its HTTP clients included. */
interface BodyParser extends Parser {
  [ON_BODY]: OnBody | null;
  [ON_COMPLETE]: OnComplete;
  [ON_EXECUTE]: (parsed: unknown) => void;
  /** Whether bytes go straight to it. */
  _consumed: boolean;
  incoming: IncomingMessage | null;
  socket: (ServerSocket & { server?: Server }) | null;
  /** The latest window with small pieces, and their number. */
  window?: number;
  pieces?: number;
  /** Set while the connection isn't read. */
  waits?: Waiting;
  /** Small pieces of the packet that is being parsed. */
  gathered?: Gathered;
  /** Node's own callbacks, kept with the parser: another application of this process may have replaced them before. */
  [NODES_OWN]?: { onBody: OnBody; onComplete: OnComplete };
}

interface Gathered {
  pieces: Buffer[];
  /** Whose body they are of. */
  incoming: IncomingMessage | null;
}

/** A connection that isn't read for a while. */
interface Waiting {
  parser: BodyParser;
  incoming: IncomingMessage;
  socket: ServerSocket;
  /** Whether reading is about to stop. */
  isStopping: boolean;
}

let currentWindow = 0;
/** Small pieces of this window, and those of earlier windows that were too many. */
let piecesOfAll = 0;
/** The first is read first. */
const waiting: Waiting[] = [];
let isResuming = false;

/**
 * Gives bodies in small chunks a fifth of the event loop. Node calls a function for each chunk of a packet, be it of one byte: a
 * hundred connections with 64 KiB of them each would keep everybody else waiting for seconds. So they are read one after the
 * other, as many as a window of time has room for. When too many come at once, those beyond a bound are closed.
 *
 * The small chunks of a packet become one piece of the body. Node keeps what nobody reads, and its objects for 16 KiB in chunks of
 * one byte take 3 MiB.
 */
export function boundSmallChunks(server: Server): void {
  // Node's own listeners have set the parser by then.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: ServerSocket) => {
    const parser = socket.parser as BodyParser;
    parser[NODES_OWN] ??= { onBody: parser[ON_BODY]!, onComplete: parser[ON_COMPLETE] };
    // What a connection that was closed in the middle of a packet has left.
    parser.gathered = undefined;
    parser.window = parser.waits = undefined;
    parser[ON_BODY] = counted;
    parser[ON_COMPLETE] = completed;
    const onExecute = parser[ON_EXECUTE];
    parser[ON_EXECUTE] = (parsed) => {
      handOn(parser);
      onExecute(parsed);
    };
  });
}

function counted(this: BodyParser, bytes: Buffer): void {
  const isSmall = bytes.length < SMALL && Boolean(this.socket?.server);
  if (isSmall && !hasPlace(this)) return giveUp(this);
  if (isSmall) return gather(this, bytes);
  handOn(this);
  this[NODES_OWN]!.onBody.call(this, bytes);
}

function completed(this: BodyParser): void {
  handOn(this);
  this[NODES_OWN]!.onComplete.call(this);
}

function gather(parser: BodyParser, bytes: Buffer): void {
  const { gathered } = parser;
  if (gathered && gathered.incoming === parser.incoming) return void gathered.pieces.push(bytes);
  parser.gathered = { pieces: [bytes], incoming: parser.incoming };
  // When the packet is parsed; else ON_EXECUTE tells, and a tick is over after each piece.
  if (!parser._consumed) process.nextTick(handOn, parser);
}

/** The parser may have gone to another connection meanwhile. */
function handOn(parser: BodyParser): void {
  const { gathered } = parser;
  parser.gathered = undefined;
  if (!gathered?.incoming || gathered.incoming !== parser.incoming) return;
  const { pieces } = gathered;
  parser[NODES_OWN]!.onBody.call(parser, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
}

function hasPlace(parser: BodyParser): boolean {
  if (++piecesOfAll === 1) setTimeout(nextWindow, WINDOW).unref();
  if (parser.window !== currentWindow) parser.pieces = 0;
  parser.window = currentWindow;
  const own = ++parser.pieces!;
  if (own <= FEW) return true;
  if (own % MAX_OF_CONNECTION === 0 || piecesOfAll >= MAX_OF_WINDOW) readOnLater(parser);
  return piecesOfAll <= MAX_OF_ALL;
}

function nextWindow(): void {
  currentWindow++;
  // What was too much for one window is taken from the next.
  piecesOfAll = Math.max(0, piecesOfAll - MAX_OF_WINDOW);
  if (piecesOfAll > 0) setTimeout(nextWindow, WINDOW).unref();
  resumeLater();
}

/**
 * Destroys the request, so that its partial body isn't taken for complete. The rest of the packet costs almost nothing
 * then.
 */
function giveUp(parser: BodyParser): void {
  parser.incoming?.destroy();
  parser.gathered = undefined;
  parser[ON_BODY] = null;
  setImmediate(() => (parser[ON_BODY] = counted));
}

function readOnLater(parser: BodyParser): void {
  const { incoming, socket } = parser;
  if (!parser.waits) {
    parser.waits = { parser, incoming: incoming!, socket: socket!, isStopping: false };
    waiting.push(parser.waits);
    resumeLater();
  }
  stop(parser.waits);
}

/** Also stops what somebody has resumed who read the body meanwhile. */
function stop(one: Waiting): void {
  if (one.isStopping) return;
  one.isStopping = true;
  // After Node's own code, which starts reading again once the packet is parsed.
  process.nextTick(() => {
    one.isStopping = false;
    handleOf(one.socket)?.readStop();
  });
}

/** Reads on one connection in a turn of the event loop: the next sees what its packet had. */
function resumeLater(): void {
  if (isResuming || waiting.length === 0) return;
  isResuming = true;
  setImmediate(() => {
    isResuming = false;
    // The next window goes on.
    if (piecesOfAll >= MAX_OF_WINDOW) return;
    resume(waiting.shift()!);
    resumeLater();
  });
}

function resume(one: Waiting): void {
  const { parser, incoming, socket } = one;
  if (parser.waits === one) parser.waits = undefined;
  // If the body isn't wanted now, Node itself starts reading when it is.
  const isWanted = incoming.readableLength < incoming.readableHighWaterMark;
  if (isWanted && !socket.destroyed && !socket.isPaused()) handleOf(socket)?.readStart();
}

const handleOf = (socket: ServerSocket) =>
  (socket as unknown as { _handle?: { readStop(): void; readStart(): void } })._handle;
