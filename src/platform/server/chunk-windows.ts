import type { IncomingMessage, Server } from 'node:http';
import type { ServerSocket } from './kept-bytes';

/** Small pieces of a connection in a window that nobody minds: the last chunks of ordinary bodies are small. */
const FEW = 64;
/** Milliseconds: how often the shares begin anew. */
const WINDOW = 100;
/**
 * Small pieces of all connections in a window, about 20 ms of work. Beyond it, a connection with more than a few waits for another
 * window.
 */
const MAX_OF_WINDOW = 20_000;
/** What it costs to hand on what was gathered, in small pieces. A record of TLS with one byte is handed on by itself. */
const HANDED_ON = 3;
/** Small pieces of a connection, after which others have their turn. A packet of 64 KiB has 11,000. */
const MAX_OF_CONNECTION = 4_096;
/**
 * Small pieces of all connections that windows to come have to make up for, about 120 ms of work. Beyond it, connections with more
 * than a few are closed.
 */
const MAX_OF_ALL = 100_000;

/** The parser of a connection whose small pieces are counted. */
export interface Sharer {
  incoming: IncomingMessage | null;
  socket: (ServerSocket & { server?: Server }) | null;
  /** The latest window with small pieces, and their number. */
  window?: number;
  pieces?: number;
  /** Set while the connection isn't read. */
  waits?: Waiting;
}

/** A connection that isn't read for a while. */
interface Waiting {
  parser: Sharer;
  incoming: IncomingMessage;
  socket: ServerSocket;
  /** Whether reading is about to stop. */
  isStopping: boolean;
}

let currentWindow = 0;
/** Small pieces of this window, and those of earlier windows that were too many. */
let piecesOfAll = 0;
/** The first is read first. */
let waiting: Waiting[] = [];
let isResuming = false;

/** Before another connection gets the parser. */
export function forgetShare(parser: Sharer): void {
  parser.window = parser.waits = undefined;
}

/** Counts a small piece. @returns false when there are so many that the connection is to be closed */
export function hasPlace(parser: Sharer): boolean {
  count(1);
  if (parser.window !== currentWindow) parser.pieces = 0;
  parser.window = currentWindow;
  const own = ++parser.pieces!;
  if (own <= FEW) return true;
  if (piecesOfAll > MAX_OF_ALL) return false;
  if (own % MAX_OF_CONNECTION === 0 || piecesOfAll >= MAX_OF_WINDOW) readOnLater(parser);
  return true;
}

/** Counts that gathered pieces are handed on. */
export function countHandedOn(): void {
  count(HANDED_ON);
}

function count(pieces: number): void {
  if (piecesOfAll === 0) setTimeout(nextWindow, WINDOW).unref();
  piecesOfAll += pieces;
}

function nextWindow(): void {
  currentWindow++;
  // What was too much for one window is taken from the next.
  piecesOfAll = Math.max(0, piecesOfAll - MAX_OF_WINDOW);
  if (piecesOfAll > 0) setTimeout(nextWindow, WINDOW).unref();
  // Nobody else takes closed connections out while the windows are full.
  waiting = waiting.filter(({ socket }) => !socket.destroyed);
  resumeLater();
}

function readOnLater(parser: Sharer): void {
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
    one.socket._handle?.readStop();
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
    const next = waiting.shift();
    // A window may have begun meanwhile, and all that waited may be closed.
    if (!next) return;
    resume(next);
    resumeLater();
  });
}

function resume(one: Waiting): void {
  const { parser, incoming, socket } = one;
  if (parser.waits === one) parser.waits = undefined;
  // Node itself resumes a connection that is paused, when its body is wanted.
  if (socket.destroyed || socket.isPaused()) return;
  if (incoming.readableLength < incoming.readableHighWaterMark) socket._handle?.readStart();
  else socket.pause();
}
