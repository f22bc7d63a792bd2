import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { type DataStore, Server } from '@tus/server';
import type { Request } from 'express';
import { ApiError, type Caller, Settings, validationError } from '../../platform';
import { Callers } from '../../platform/features';
import { Admission } from '../admission';
import { preempted } from '../upload-errors';
import { ByteStore } from '../bytes/byte-store';
import { type Holder, holderOf, type Slot } from '../fair-slots';
import { type BodyOptions, RequestBody } from './request-body';
import { TusStore } from './tus-store';
import { TURN_BYTES, UploadThrottle } from './upload-throttle';
import type { Upload } from '../upload.entity';
import { checksumOf, lengthOf } from './upload-headers';
import { UploadLocks } from '../locks/upload-locks';
import { type Claims, claimsOf } from '../upload-metadata';
import { offsetConflict, UploadRows } from '../upload-rows';
import { UploadSettings } from '../upload-settings';

/** The request headers of the protocol. */
const HEADERS = [
  'tus-resumable',
  'upload-length',
  'upload-offset',
  'upload-metadata',
  'content-type',
  'content-length',
];

/** The fixed cost of starting a request, counted in bytes. */
const START = 5 * TURN_BYTES;

/** tus' server throws its answers instead of errors. */
interface TusError {
  status_code: number;
  body: string;
}

/** Creates uploads and appends to them by tus' own server, with this service's store and locks. */
@Injectable()
export class TusEndpoint implements OnModuleDestroy {
  private readonly logger = new Logger(TusEndpoint.name);
  private readonly bodies = new Set<RequestBody>();
  private readonly admission: Admission;
  private readonly maxSize: number;

  constructor(
    private readonly rows: UploadRows,
    private readonly bytes: ByteStore,
    private readonly locks: UploadLocks,
    private readonly callers: Callers,
    private readonly settings: Settings,
    { MAX_UPLOAD_SIZE, UPLOAD_MAX_OPEN_PER_USER, UPLOAD_MAX_OPEN }: UploadSettings,
  ) {
    this.admission = new Admission({ perUser: UPLOAD_MAX_OPEN_PER_USER, total: UPLOAD_MAX_OPEN }, 'write');
    this.maxSize = MAX_UPLOAD_SIZE;
  }

  /** Creates an upload, with its first bytes if the request has any. */
  create(request: Request, caller: Caller): Promise<Upload> {
    const length = lengthOf(request, this.maxSize);
    if (Number(request.headers['content-length'] ?? 0) > length) throw tooLong();
    const claims = claimsOf(request.headers['upload-metadata'] as string | undefined);
    const key = randomUUID();
    const store = this.storeFor(request, caller, claims);
    giveNobodyWay(request);
    return this.admission.during(caller.id, request, async (place) => {
      await this.bytes.requireRoom(length);
      try {
        await this.handle(request, key, store, { place });
        const upload = await this.rows.find(key);
        // The time limit or an incomplete body was answered with an error.
        if (request.res!.headersSent) await this.undo(upload, place);
        return upload;
      } catch (error) {
        if (store.row) await this.undo(store.row, place);
        throw error;
      }
    });
  }

  /** Appends the bytes of the request. Resolves to the upload after it. */
  append(request: Request, { key, size, expires_at: until }: Upload, caller: Caller): Promise<Upload> {
    // An offset beyond the size can't be right, and the library wouldn't name the refused header.
    if (Number(request.headers['upload-offset']) > size) throw offsetConflict();
    const store = this.storeFor(request, caller);
    giveNobodyWay(request);
    return this.admission.during(caller.id, request, async (place) => {
      await this.bytes.requireRoom(0);
      await this.handle(request, key, store, { until, place });
      return store.row!;
    });
  }

  /** The service stops: the bytes received so far are stored and answered, and the client continues elsewhere. */
  onModuleDestroy(): void {
    for (const body of this.bodies) body.stop();
  }

  /**
   * Deletes an upload whose creation was refused, so that it takes no quota. The row is deleted first, because bytes
   * without a row are swept.
   */
  private async undo(upload: Upload, holder: Holder): Promise<void> {
    try {
      await this.locks.during(upload.key, async () => {
        await this.rows.forget(upload, holder);
        await this.bytes.remove(upload.key);
      });
    } catch (error) {
      this.logger.warn({ err: error, upload: upload.key }, 'A refused upload was not removed');
    }
  }

  private storeFor(request: Request, caller: Caller, claims?: Claims): TusStore {
    const { rows, bytes } = this;
    const requireCaller = () => this.callers.confirm(caller);
    const holder = holderOf(caller.id, request);
    return new TusStore({ rows, bytes, holder, claims, checksum: checksumOf(request), requireCaller });
  }

  private async handle(
    request: Request,
    key: string,
    store: DataStore,
    { place, until }: Pick<BodyOptions, 'until'> & { place: Slot<number> },
  ): Promise<void> {
    const body = new RequestBody(request, { holder: place, until, limit: this.settings.REQUEST_TIMEOUT });
    this.bodies.add(body);
    const preempt = () => body.stop(preempted());
    const bytesPerSecond = () => body.bytesPerSecond;
    place.preempt = preempt;
    place.bytesPerSecond = bytesPerSecond;
    try {
      giveNobodyWay(request);
      await UploadThrottle.take(place, START);
      const { status } = await this.serverFor(key, store).handleWeb(toWeb(request, body, key));
      // The server answers what its own validation refuses, without throwing.
      if (status >= 400) throw fromTusError({ status_code: status, body: '' });
      if (body.failure) throw body.failure;
    } catch (error) {
      throw body.failure ?? error;
    } finally {
      place.preempt = undefined;
      this.bodies.delete(body);
      body.destroy();
    }
  }

  /** One server for each request, because it passes nothing of a request but the key to its store. */
  private serverFor(key: string, datastore: DataStore): Server {
    return new Server({
      path: '/uploads',
      datastore,
      locker: this.locks,
      // The holder of a lost lock ends at once.
      lockDrainTimeout: 1,
      maxSize: this.maxSize,
      relativeLocation: true,
      namingFunction: () => key,
      getFileIdFromRequest: () => key,
      onResponseError: (_request, error) => {
        throw 'status_code' in error ? fromTusError(error) : error;
      },
    });
  }
}

/** Marks the request as streaming, so that other uploads don't pause for it. */
function giveNobodyWay({ timeLimit }: Request): void {
  timeLimit?.progress();
}

function toWeb({ method, headers }: Request, body: RequestBody, key: string): globalThis.Request {
  const known = HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
  const init = { method, headers: Object.fromEntries(known) as Record<string, string>, duplex: 'half' as const };
  return new Request(`http://localhost/uploads/${key}`, { ...init, body: Readable.toWeb(body) as BodyInit });
}

function fromTusError({ status_code: status, body }: TusError): ApiError {
  const cause = new Error(body.trim());
  if (status === 409) return offsetConflict();
  if (status === 410) return new ApiError('GONE', { cause });
  if (status === 413) return tooLong();
  if (status < 500) return validationError([{ field: 'request', rule: 'tus', message: 'must keep to tus 1.0.0' }]);
  return new ApiError('INTERNAL_ERROR', { cause });
}

/** 413 for more bytes than the announced size. */
export const tooLong = (): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', {
    message: 'The request has more bytes than the upload still needs',
    details: 'Send no more than Upload-Length says',
  });
