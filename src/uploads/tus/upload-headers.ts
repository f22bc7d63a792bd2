import type { Request, Response } from 'express';
import { ApiError, validationError } from '../../platform';
import type { Upload } from '../upload.entity';

export const TUS_VERSION = '1.0.0';
export const TUS_EXTENSIONS = 'creation,creation-with-upload,expiration,checksum,termination';
export const CHUNK_TYPE = 'application/offset+octet-stream';
const WHOLE = /^(0|[1-9]\d*)$/;
export const CHECKSUM_ALGORITHMS = 'sha1,sha256';
const CHECKSUM = /^(sha1|sha256) ([A-Za-z0-9+/]+=)$/;
/** Of digests in Base64. */
const DIGEST_LENGTHS = { sha1: 28, sha256: 44 };

/** What the bytes of a request say to be. */
export interface ChunkChecksum {
  algorithm: keyof typeof DIGEST_LENGTHS;
  /** In Base64. */
  digest: string;
}

/** Only version 1.0.0 is supported. A request without the header is allowed unless `demanded`. */
export function requireVersion({ headers }: Request, { demanded = false } = {}): void {
  const version = headers['tus-resumable'];
  if (version === TUS_VERSION || (version === undefined && !demanded)) return;
  throw wrongVersion();
}

/** Creates an upload: what it is to be stands in the headers. */
export function requireNewUpload(request: Request): void {
  requireVersion(request, { demanded: true });
  if (hasBody(request) && !isChunk(request)) throw notAChunk('POST');
}

/** 412, as the protocol has it for another version. */
export const wrongVersion = (): ApiError =>
  new ApiError('PRECONDITION_FAILED', {
    message: 'This version of the tus protocol is not spoken here',
    details: `Tus-Resumable: must be ${TUS_VERSION}`,
    headers: { 'Tus-Version': TUS_VERSION },
  });

/** @throws {ApiError} PAYLOAD_TOO_LARGE for a length above the limit */
export function lengthOf({ headers }: Request, limit: number): number {
  const field = 'Upload-Length';
  if (headers['upload-defer-length'] !== undefined) {
    const message = 'is not taken: say Upload-Length, as an upload takes its room in the quota when it begins';
    throw validationError([{ field: 'Upload-Defer-Length', rule: 'unknown', message }]);
  }
  if (headers['upload-concat'] !== undefined) {
    throw validationError([
      { field: 'Upload-Concat', rule: 'unknown', message: 'is not taken: send one file as one upload' },
    ]);
  }
  const length = wholeNumber(field, headers['upload-length']);
  if (length > limit) throw tooLarge(limit);
  return length;
}

/** 413 for an upload that is larger than any may be. */
export const tooLarge = (limit: number): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', {
    message: 'The upload is too large',
    details: `Upload-Length: must be at most ${limit}`,
    headers: { 'Tus-Max-Size': String(limit) },
  });

/** The checksum that a chunk says to have. */
export function checksumOf({ headers }: Request): ChunkChecksum | undefined {
  const header = headers['upload-checksum'];
  if (header === undefined) return undefined;
  const [, algorithm, digest] = (CHECKSUM.exec(String(header)) ?? []) as [
    string?,
    ChunkChecksum['algorithm']?,
    string?,
  ];
  if (algorithm && digest?.length === DIGEST_LENGTHS[algorithm]) return { algorithm, digest };
  const message = 'must be sha1 or sha256, a blank, and the digest in Base64';
  throw validationError([{ field: 'Upload-Checksum', rule: 'checksum', message }]);
}

/** Appends bytes to an upload. */
export function requireChunk(request: Request): void {
  requireVersion(request, { demanded: true });
  if (!isChunk(request)) throw notAChunk('PATCH');
  wholeNumber('Upload-Offset', request.headers['upload-offset']);
  // The protocol has it here for lengths that were deferred.
  if (request.headers['upload-length'] !== undefined) {
    const message = 'is not taken here: it was said when the upload was created';
    throw validationError([{ field: 'Upload-Length', rule: 'unknown', message }]);
  }
  checksumOf(request);
}

const isChunk = ({ headers }: Request): boolean =>
  headers['content-encoding'] === undefined && headers['content-type'] === CHUNK_TYPE;

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** 415 for a body that isn't a piece of a file. */
export const notAChunk = (method: 'POST' | 'PATCH'): ApiError =>
  new ApiError('UNSUPPORTED_MEDIA_TYPE', {
    details: `Send ${CHUNK_TYPE}, not encoded in any way`,
    headers: { [method === 'PATCH' ? 'Accept-Patch' : 'Accept']: CHUNK_TYPE },
  });

/** What the protocol tells of itself. */
export function answerOptions(response: Response, allow: string, limit: number): void {
  response.setHeader('Allow', allow);
  response.setHeader('Tus-Version', TUS_VERSION);
  response.setHeader('Tus-Extension', TUS_EXTENSIONS);
  response.setHeader('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS);
  response.setHeader('Tus-Max-Size', limit);
  if (allow.includes('PATCH')) response.setHeader('Accept-Patch', CHUNK_TYPE);
}

/** What the protocol says of an upload in each answer about it. */
export function describe(response: Response, { offset, size, expires_at, metadata }: Upload): void {
  // The time-out may have answered meanwhile.
  if (response.headersSent) return;
  response.setHeader('Upload-Offset', offset);
  response.setHeader('Upload-Length', size);
  if (metadata !== null) response.setHeader('Upload-Metadata', metadata);
  if (expires_at) response.setHeader('Upload-Expires', expires_at.toUTCString());
  // Where to go on is never to be taken from a cache, not even by who may keep the rest.
  response.setHeader('Cache-Control', 'no-store');
}

/** The same of a new one, and where it is. */
export function describeNew(response: Response, upload: Upload): void {
  describe(response, upload);
  if (!response.headersSent) response.setHeader('Location', `${response.req.apiRoot}/uploads/${upload.key}`);
}

function wholeNumber(field: string, value: string | string[] | undefined): number {
  if (value === undefined) throw validationError([{ field, rule: 'required', message: 'is required' }]);
  // Larger than any limit is too large, however many digits it has.
  if (WHOLE.test(String(value))) return Number(value);
  throw validationError([{ field, rule: 'range', message: 'must be a whole number of bytes, 0 or more' }]);
}
