import type { IncomingMessage, Server } from 'node:http';
import { Server as SecureServer } from 'node:https';
import { countHandedOn, forgetShare, hasPlace, type Sharer } from './chunk-windows';
import type { Parser, ServerSocket } from './kept-bytes';

/** The index of the parser's callback for a piece of a body: HTTPParser.kOnBody. */
const ON_BODY = 3;
/** The same when a message is whole: HTTPParser.kOnMessageComplete. */
const ON_COMPLETE = 4;
/** The same when what was read is parsed, of a connection whose bytes go straight to the parser: HTTPParser.kOnExecute. */
const ON_EXECUTE = 5;
/** Bytes: a smaller piece costs Node more than what is in it. */
const SMALL = 64;
/**
 * Pieces of a body that nobody reads, after which the connection isn't read. Node counts bytes alone, and a piece of one byte from
 * a packet of its own takes half a kibibyte.
 */
const MAX_UNREAD = 256;
/** The same symbol in each copy of this module. */
const NODES_OWN: unique symbol = Symbol.for('resource-api.parser') as never;

type OnBody = (this: BodyParser, bytes: Buffer) => void;
type OnComplete = (this: BodyParser) => void;

/** Node reuses a parser for several connections, those of its HTTP clients included. */
interface BodyParser extends Parser, Sharer {
  [ON_BODY]: OnBody | null;
  [ON_COMPLETE]: OnComplete;
  [ON_EXECUTE]: (parsed: unknown) => void;
  /** Whether bytes go straight to it. */
  _consumed: boolean;
  /** Small pieces of the packet that is being parsed. */
  gathered?: Gathered;
  /** The number of latest pieces of the body that nobody has read yet. */
  unread?: number;
  /** Node's own callbacks, kept with the parser: another application of this process may have replaced them before. */
  [NODES_OWN]?: { onBody: OnBody; onComplete: OnComplete };
}

interface Gathered {
  pieces: Buffer[];
  /** Whose body they are of. */
  incoming: IncomingMessage | null;
}

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
    parser.unread = 0;
    forgetShare(parser);
    parser[ON_BODY] = counted;
    parser[ON_COMPLETE] = completed;
    const onExecute = parser[ON_EXECUTE];
    const handOnAndExecute: typeof onExecute = (parsed) => {
      handOn(parser);
      onExecute(parsed);
    };
    parser[ON_EXECUTE] = handOnAndExecute;
  });
}

function counted(this: BodyParser, bytes: Buffer): void {
  const isSmall = bytes.length < SMALL && Boolean(this.socket?.server);
  if (isSmall && !hasPlace(this)) return giveUp(this);
  if (isSmall) return gather(this, bytes);
  handOn(this);
  pass(this, bytes);
}

function pass(parser: BodyParser, bytes: Buffer): void {
  const { incoming, socket } = parser;
  parser[NODES_OWN]!.onBody.call(parser, bytes);
  const isAlone = !incoming || incoming.readableLength <= bytes.length;
  parser.unread = isAlone ? 1 : parser.unread! + 1;
  // As Node does above its own bound. Whoever reads the body has the connection read again.
  if (parser.unread >= MAX_UNREAD) socket?.pause();
}

function completed(this: BodyParser): void {
  handOn(this);
  this.unread = 0;
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
  countHandedOn();
  pass(parser, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
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
