import { Readable } from 'node:stream';
import type { Request } from 'express';
import { ApiError } from '../../platform';
import { onBodyEnd } from '../../platform/features';
import { MinRateTimer } from './min-rate-timer';
import type { Holder } from '../fair-slots';
import { TURN_BYTES, UploadThrottle } from './upload-throttle';
import { uploadBytes } from '../upload-measures';
import { expired } from '../upload-rows';

/** How long bytes are gathered that are less than a turn, in milliseconds. */
const GATHERING_MS = 50;
/** The fixed cost of a piece, counted in bytes: a chunked body may consist of many tiny pieces. */
const PIECE_COST_BYTES = 256;
/** A shorter stall, in milliseconds, is tolerated: a phone may lose its network for some seconds. */
const MIN_STALL_MS = 10_000;

export interface BodyOptions {
  /** The user and network that take turns. */
  holder: Holder;
  /** How long the client may stall, in milliseconds. */
  limit: number;
  /** When the upload expires; null if it doesn't, undefined for an upload that is being created. */
  until?: Date | null;
}

/** HTTP/1.0 has no interim responses. */
const awaitsContinue = ({ headers, httpVersion }: Request) => headers.expect !== undefined && httpVersion !== '1.0';

/**
 * The bytes of a request's body, released in turns. If the client goes away or the service stops, the stream ends
 * without an error: the bytes received so far count. It always ends, because its reader holds a lock.
 */
export class RequestBody extends Readable {
  /** The reason why it was ended before the whole body had arrived. */
  failure: ApiError | undefined;
  private over = false;
  private readonly timer: MinRateTimer;
  private pieces: Buffer[] = [];
  /** The cost of the gathered pieces, in bytes. */
  private weight = 0;
  private gathering: NodeJS.Timeout | undefined;
  /** True if the gathered pieces may be released. */
  private ready = false;
  private wanted = false;
  private waiting = false;

  constructor(
    private readonly request: Request,
    private readonly options: BodyOptions,
  ) {
    super();
    this.timer = new MinRateTimer(Math.max(options.limit, MIN_STALL_MS), () => this.stop(tooSlow()));
    request.on('data', (chunk: Buffer) => this.receive(chunk));
    request.pause();
    onBodyEnd(request, () => this.stop());
    if (!this.over && awaitsContinue(request)) request.res!.writeContinue();
  }

  /** Ends the stream. @param failure the answer to the request. Without it, the bytes received count as all */
  stop(failure?: ApiError): void {
    if (this.over) return;
    this.over = true;
    this.failure = failure;
    this.timer.end();
    this.give();
    this.push(null);
    // Bytes that arrive later are discarded, so that the client can read the answer.
    this.request.resume();
  }

  /** The rate at which the client sends while it is waited for. */
  get bytesPerSecond(): number {
    return this.timer.bytesPerSecond;
  }

  override _read(): void {
    this.wanted = true;
    if (this.ready) void this.giveInTurn();
    else this.goOn();
  }

  override _destroy(_error: Error | null, callback: () => void): void {
    this.over = true;
    this.timer.end();
    clearTimeout(this.gathering);
    this.request.resume();
    callback();
  }

  private goOn(): void {
    if (this.over) return void this.request.resume();
    this.timer.resume();
    this.request.resume();
  }

  private receive(chunk: Buffer): void {
    if (this.over) return;
    this.request.timeLimit?.progress(chunk.length);
    this.timer.earn(chunk.length);
    uploadBytes.add({ direction: 'in' }, chunk.length);
    this.pieces.push(chunk);
    this.weight += chunk.length + PIECE_COST_BYTES;
    if (this.weight < TURN_BYTES) this.gathering ??= setTimeout(() => this.offer(), GATHERING_MS);
    else this.offer();
  }

  /** Releases the gathered pieces: they are enough, or the gathering time is over. */
  private offer(): void {
    this.ready = true;
    this.request.pause();
    this.timer.pause();
    if (this.wanted) void this.giveInTurn();
  }

  private async giveInTurn(): Promise<void> {
    if (this.waiting) return;
    this.waiting = true;
    await UploadThrottle.take(this.options.holder, this.weight);
    this.waiting = false;
    // Meanwhile everything was released, or nobody reads any more.
    if (this.over) return;
    const { until } = this.options;
    if (until && until.getTime() < Date.now()) return this.stop(expired());
    this.wanted = false;
    if (this.give()) this.goOn();
  }

  /** Returns true if the reader wants more now. Otherwise it will call _read(). */
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

/** 503 for a client that sends too slowly: the bytes received count, and the client may continue later. */
export const tooSlow = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', {
    message: 'The bytes come too slowly',
    headers: { Connection: 'close' },
  });
