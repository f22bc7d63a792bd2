import type { Request, Response } from 'express';
import { ApiError, validationError } from '../../platform';
import type { Upload } from '../upload.entity';

export const TUS_VERSION = '1.0.0';
export const TUS_EXTENSIONS = 'creation,creation-with-upload,expiration,checksum,termination';
export const CHUNK_TYPE = 'application/offset+octet-stream';
const WHOLE = /^(0|[1-9]\d*)$/;
export const CHECKSUM_ALGORITHMS = 'sha1,sha256';
const CHECKSUM = /^(sha1|sha256) ([A-Za-z0-9+/]+=)$/;
/** Lengths of digests in Base64. */
const DIGEST_LENGTHS = { sha1: 28, sha256: 44 };

/** The checksum that a request states for its bytes. */
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

/** Checks a request that creates an upload. */
export function requireNewUpload(request: Request): void {
  requireVersion(request, { demanded: true });
  if (hasBody(request) && !isChunk(request)) throw notAChunk('POST');
}

/** 412 for another version, as the protocol says. */
export const wrongVersion = (): ApiError =>
  new ApiError('PRECONDITION_FAILED', {
    message: 'This version of the tus protocol is not supported',
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

/** 413 for an upload above the size limit. */
export const tooLarge = (limit: number): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', {
    message: 'The upload is too large',
    details: `Upload-Length: must be at most ${limit}`,
    headers: { 'Tus-Max-Size': String(limit) },
  });

/** The checksum that a request states for its chunk. */
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

/** Checks a request that appends bytes. */
export function requireChunk(request: Request): void {
  requireVersion(request, { demanded: true });
  if (!isChunk(request)) throw notAChunk('PATCH');
  wholeNumber('Upload-Offset', request.headers['upload-offset']);
  // The protocol only has this header here for deferred lengths.
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

/** 415 for a body that isn't a chunk. */
export const notAChunk = (method: 'POST' | 'PATCH'): ApiError =>
  new ApiError('UNSUPPORTED_MEDIA_TYPE', {
    details: `Send ${CHUNK_TYPE}, not encoded in any way`,
    headers: { [method === 'PATCH' ? 'Accept-Patch' : 'Accept']: CHUNK_TYPE },
  });

/** Answers OPTIONS with what is supported of the protocol. */
export function answerOptions(response: Response, allow: string, limit: number): void {
  response.setHeader('Allow', allow);
  response.setHeader('Tus-Version', TUS_VERSION);
  response.setHeader('Tus-Extension', TUS_EXTENSIONS);
  response.setHeader('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS);
  response.setHeader('Tus-Max-Size', limit);
  if (allow.includes('PATCH')) response.setHeader('Accept-Patch', CHUNK_TYPE);
}

/** Sets the protocol's headers of an answer about an upload. */
export function describe(response: Response, { offset, size, expires_at, metadata }: Upload): void {
  // The time limit may have answered meanwhile.
  if (response.headersSent) return;
  response.setHeader('Upload-Offset', offset);
  response.setHeader('Upload-Length', size);
  if (metadata !== null) response.setHeader('Upload-Metadata', metadata);
  if (expires_at) response.setHeader('Upload-Expires', expires_at.toUTCString());
  // The offset must never come from a cache.
  response.setHeader('Cache-Control', 'no-store');
}

/** The same for a new upload, and its location. */
export function describeNew(response: Response, upload: Upload): void {
  describe(response, upload);
  if (!response.headersSent) response.setHeader('Location', `${response.req.apiRoot}/uploads/${upload.key}`);
}

function wholeNumber(field: string, value: string | string[] | undefined): number {
  if (value === undefined) throw validationError([{ field, rule: 'required', message: 'is required' }]);
  // A number with more digits than JavaScript represents is too large for any limit.
  if (WHOLE.test(String(value))) return Number(value);
  throw validationError([{ field, rule: 'range', message: 'must be a whole number of bytes, 0 or more' }]);
}
