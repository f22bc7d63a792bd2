import { Upload, type HttpRequest, type UploadOptions as TusOptions } from 'tus-js-client';
import { ApiError, errorOf } from './api-error.js';
import type { Client1, Client2 } from './create-client.js';
import type { DataOf, OperationAt } from './paths.js';
import type { Paths2 } from './index.js';

/** What the service knows of an upload. */
export type Uploaded = DataOf<OperationAt<Paths2, '/uploads/{key}', 'GET'>>;

export interface UploadOptions {
  filename?: string;
  /** The media type that the file claims. */
  mediaType?: string;
  /** Needed for streams only. In bytes */
  size?: number;
  /** Bytes of one request. Default: the whole file; 8 MiB of a stream */
  chunkSize?: number;
  /** Called with the bytes that were sent, and with those of the whole file. */
  onProgress?: (sent: number, total: number) => void;
  /** Stops the upload. What has arrived is kept for a while: the same file goes on from there in a browser. */
  signal?: AbortSignal;
  /** Milliseconds before each further attempt; what has arrived in between starts them anew. */
  retryDelays?: number[];
}

const STREAM_CHUNK = 8 * 1024 * 1024;
const RETRY_DELAYS = [200, 1_000, 3_000, 5_000, 10_000];
/** Answers that another attempt may not get: no answer, expired tokens, another request that writes, and busy services. */
const TEMPORARY = [0, 401, 409, 423, 429, 500, 502, 503, 504];

/**
 * Uploads a file by the tus protocol, in as many requests as the connection needs.
 * @param source a `File`, a `Blob`, a `Buffer` or a stream
 * @returns the finished upload
 * @throws {ApiError} or the reason of the signal
 */
export async function upload(
  client: Client1 | Client2,
  source: Upload['file'],
  options: UploadOptions = {},
): Promise<Uploaded> {
  const key = await sent(client, source, options);
  const { data } = await (client as Client2).GET('/uploads/{key}', {
    params: { path: { key } },
    signal: options.signal,
  });
  return data;
}

/** @returns the key of the upload */
function sent(client: Client1 | Client2, source: Upload['file'], options: UploadOptions): Promise<string> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const upload = new Upload(source, {
      ...tusOptionsOf(source, options),
      ...authorization(client),
      endpoint: `${client.base}/uploads`,
      overridePatchMethod: client.patchByPost,
      onError: (error) => reject(asApiError(error)),
      onSuccess: () => finish(() => resolve(upload.url!.split('/').pop()!)),
    });
    const cancel = () => finish(() => void upload.abort().finally(() => reject(signal!.reason as Error)));
    const finish = (then: () => void) => {
      signal?.removeEventListener('abort', cancel);
      then();
    };
    signal?.addEventListener('abort', cancel, { once: true });
    void startOrResume(upload).catch(reject);
  });
}

/** Goes on with what a page has sent of the same file before it was closed. */
async function startOrResume(upload: Upload): Promise<void> {
  const [previous] = await upload.findPreviousUploads();
  if (previous) upload.resumeFromPreviousUpload(previous);
  upload.start();
}

function tusOptionsOf(source: Upload['file'], options: UploadOptions): TusOptions {
  const { filename = nameOf(source), mediaType = typeOf(source), size, onProgress } = options;
  const isStream = !('size' in source) && !('byteLength' in source);
  return {
    metadata: { ...(filename && { filename }), ...(mediaType && { filetype: mediaType }) },
    uploadSize: size ?? null,
    chunkSize: options.chunkSize ?? (isStream ? STREAM_CHUNK : Infinity),
    onProgress,
    retryDelays: options.retryDelays ?? RETRY_DELAYS,
    removeFingerprintOnSuccess: true,
  };
}

/** The token of each request, which is exchanged when it ends or is refused. */
function authorization({ session }: Client1 | Client2): Pick<TusOptions, 'onBeforeRequest' | 'onShouldRetry'> {
  let token: string | undefined;
  let isRefused = false;
  return {
    onBeforeRequest: async (request: HttpRequest) => {
      token = isRefused && token !== undefined ? await session.renewed(token) : await session.accessToken();
      if (token !== undefined) request.setHeader('Authorization', `Bearer ${token}`);
    },
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      const isAgain = isRefused && status === 401;
      isRefused = status === 401;
      return !isAgain && TEMPORARY.includes(status);
    },
  };
}

function asApiError(error: Error): Error {
  const response = (error as { originalResponse?: { getStatus(): number; getBody(): string } | null }).originalResponse;
  if (!response) return new ApiError({ status: 0, code: 'NO_ANSWER', message: 'The connection broke', cause: error });
  return errorOf(new Response(null, { status: response.getStatus() }), response.getBody());
}

const nameOf = (source: Upload['file']): string | undefined => (source as Partial<File>).name;
const typeOf = (source: Upload['file']): string | undefined => (source as Partial<Blob>).type;
