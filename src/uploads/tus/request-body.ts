import { Readable } from 'node:stream';
import type { Request } from 'express';
import { ApiError, whenOver } from '../../platform';
import { Patience } from './patience';
import type { Holder } from '../places';
import { TURN, Turns } from './turns';
import { expired } from '../upload-rows';

/** How long bytes are gathered that are less than a turn, in milliseconds. */
const GATHERING = 50;
/** Of how many bytes the work on each piece is, be it one byte long: a chunked body may have very many. */
const PIECE = 256;
/** Less time says nothing about how fast a client sends: a phone may be without a network for some seconds. */
const LEAST_PATIENCE = 10_000;

export interface BodyOptions {
  /** Whose turn it takes. */
  holder: Holder;
  /** How long its client may stall, in milliseconds. */
  limit: number;
  /** When the upload expires; null for one that does not, undefined for one that is about to begin. */
  until?: Date | null;
}

/** HTTP/1.0 knows no interim answer. */
const awaitsContinue = ({ headers, httpVersion }: Request) => headers.expect !== undefined && httpVersion !== '1.0';

/**
 * The bytes that a request brings, in turns. It ends, without an error, also when its client goes away or the service stops:
 * what has come until then counts. It always ends, since whoever reads it holds a lock.
 */
export class RequestBody extends Readable {
  /** Why it was ended before its client had sent all. */
  failure: ApiError | undefined;
  private over = false;
  private readonly patience: Patience;
  private pieces: Buffer[] = [];
  /** Of the pieces, in bytes of work. */
  private weight = 0;
  private gathering: NodeJS.Timeout | undefined;
  /** Whether the pieces may go. */
  private ready = false;
  private wanted = false;
  private waiting = false;

  constructor(
    private readonly request: Request,
    private readonly options: BodyOptions,
  ) {
    super();
    this.patience = new Patience(Math.max(options.limit, LEAST_PATIENCE), () => this.stop(tooSlow()));
    request.on('data', (chunk: Buffer) => this.receive(chunk));
    request.pause();
    whenOver(request, () => this.stop());
    if (!this.over && awaitsContinue(request)) request.res!.writeContinue();
  }

  /** Takes nothing more. @param failure what the request is answered with; without it what has come counts as all */
  stop(failure?: ApiError): void {
    if (this.over) return;
    this.over = true;
    this.failure = failure;
    this.patience.end();
    this.give();
    this.push(null);
    // What still comes is let pass, so that the client gets to read the answer.
    this.request.resume();
  }

  /** Bytes a second that the client sends when it is waited for. */
  get rate(): number {
    return this.patience.rate;
  }

  override _read(): void {
    this.wanted = true;
    if (this.ready) void this.giveInTurn();
    else this.goOn();
  }

  override _destroy(_error: Error | null, callback: () => void): void {
    this.over = true;
    this.patience.end();
    clearTimeout(this.gathering);
    this.request.resume();
    callback();
  }

  private goOn(): void {
    if (this.over) return void this.request.resume();
    this.patience.resume();
    this.request.resume();
  }

  private receive(chunk: Buffer): void {
    if (this.over) return;
    this.request.timeLimit?.progress(chunk.length);
    this.patience.earn(chunk.length);
    this.pieces.push(chunk);
    this.weight += chunk.length + PIECE;
    if (this.weight < TURN) this.gathering ??= setTimeout(() => this.offer(), GATHERING);
    else this.offer();
  }

  /** What has come is enough, or as much as is waited for. */
  private offer(): void {
    this.ready = true;
    this.request.pause();
    this.patience.pause();
    if (this.wanted) void this.giveInTurn();
  }

  private async giveInTurn(): Promise<void> {
    if (this.waiting) return;
    this.waiting = true;
    await Turns.take(this.options.holder, this.weight);
    this.waiting = false;
    // Meanwhile all was given, or nobody reads any more.
    if (this.over) return;
    const { until } = this.options;
    if (until && until.getTime() < Date.now()) return this.stop(expired());
    this.wanted = false;
    if (this.give()) this.goOn();
  }

  /** Returns whether there is room for more. Else it will be asked for. */
  private give(): boolean {
    const { pieces } = this;
    clearTimeout(this.gathering);
    this.gathering = undefined;
    this.ready = false;
    this.pieces = [];
    this.weight = 0;
    if (pieces.length === 0) return true;
    return this.push(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  }
}

/** 503, as for a request that stalls: what has come counts, and the client goes on from there when it can. */
export const tooSlow = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', {
    message: 'The bytes come too slowly',
    headers: { Connection: 'close' },
  });
