import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { type DataStore, Server } from '@tus/server';
import type { Request } from 'express';
import { ApiError, type Caller, Callers, Settings, validationError } from '../../platform';
import { Admission, gaveWay } from '../admission';
import { ByteStore } from '../bytes/byte-store';
import { type Holder, holderOf, type Place } from '../places';
import { type BodyOptions, RequestBody } from './request-body';
import { TusStore } from './tus-store';
import { TURN, Turns } from './turns';
import type { Upload } from '../upload.entity';
import { checksumOf, lengthOf } from './upload-headers';
import { UploadLocks } from './upload-locks';
import { type Claims, claimsOf } from '../upload-metadata';
import { offsetConflict, UploadRows } from '../upload-rows';
import { UploadSettings } from '../upload-settings';

/** Those of a request that the protocol knows. */
const HEADERS = [
  'tus-resumable',
  'upload-length',
  'upload-offset',
  'upload-metadata',
  'content-type',
  'content-length',
];

/** How many bytes a request is as much work as, before its first. */
const START = 5 * TURN;

/** What tus' server throws: no error, but the answer that it would give. */
interface TusError {
  status_code: number;
  body: string;
}

/** Lets tus' own server create uploads and write to them, with our store and our locks. */
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
    this.admission = new Admission({ perUser: UPLOAD_MAX_OPEN_PER_USER, total: UPLOAD_MAX_OPEN });
    this.maxSize = MAX_UPLOAD_SIZE;
  }

  /** Creates an upload, with its first bytes if the request brings any. */
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
        // With an error, by the time limit or for a body that broke off.
        if (request.res!.headersSent) await this.undo(upload, place);
        return upload;
      } catch (error) {
        if (store.row) await this.undo(store.row, place);
        throw error;
      }
    });
  }

  /** Appends the bytes that the request brings. Resolves with where the upload then stands. */
  append(request: Request, { key, size, expires_at: until }: Upload, caller: Caller): Promise<Upload> {
    // No upload stands there, and the library would not say which header it refuses.
    if (Number(request.headers['upload-offset']) > size) throw offsetConflict();
    const store = this.storeFor(request, caller);
    giveNobodyWay(request);
    return this.admission.during(caller.id, request, async (place) => {
      await this.bytes.requireRoom(0);
      await this.handle(request, key, store, { until, place });
      return store.row!;
    });
  }

  /** The service stops: what has come so far is made safe and answered, and the client goes on elsewhere. */
  onModuleDestroy(): void {
    for (const body of this.bodies) body.stop();
  }

  /** An upload whose creation was refused takes no room. The row goes first: bytes without one are swept. */
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
    { place, until }: Pick<BodyOptions, 'until'> & { place: Place },
  ): Promise<void> {
    const body = new RequestBody(request, { holder: place, until, limit: this.settings.REQUEST_TIMEOUT });
    this.bodies.add(body);
    place.giveWay = () => body.stop(gaveWay());
    place.rate = () => body.rate;
    try {
      giveNobodyWay(request);
      await Turns.take(place, START);
      const { status } = await this.serverFor(key, store).handleWeb(toWeb(request, body, key));
      // What its own validation refuses it answers without an error.
      if (status >= 400) throw fromTusError({ status_code: status, body: '' });
      if (body.failure) throw body.failure;
    } catch (error) {
      throw body.failure ?? error;
    } finally {
      place.giveWay = undefined;
      this.bodies.delete(body);
      body.destroy();
    }
  }

  /** One for each request: it tells its store nothing of a request but the key. */
  private serverFor(key: string, datastore: DataStore): Server {
    return new Server({
      path: '/uploads',
      datastore,
      locker: this.locks,
      // Who lost its lock ends at once.
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

/** It moves bytes, or will: other uploads don't rest for its sake. */
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

/** 413 for more bytes than the upload is to have. */
export const tooLong = (): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', {
    message: 'The upload ends before these bytes do',
    details: 'Send no more than Upload-Length says',
  });
