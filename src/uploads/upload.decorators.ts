import { applyDecorators, HttpStatus } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiHeader, ApiResponse } from '@nestjs/swagger';
import {
  ANY_TYPE,
  ApiAnswerHeaders,
  describeErrorHeaders,
  ENTITY_TAG,
  exposeHeaders,
  Extension,
  headerText,
} from '../platform/features';
import { CHUNK_TYPE, TUS_VERSION } from './tus/upload-headers';

const BYTES = headerText(16, '^(0|[1-9][0-9]*)$');
/** OpenAPI linters require a length, although the size is unlimited here. */
const BINARY = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER };
const header = (description: string, schema: object, example: string) => ({ description, schema, example });

const HEADERS = {
  'Upload-Offset': header('The number of bytes that are stored.', BYTES, '524288'),
  'Upload-Length': header('The size of the complete upload, in bytes.', BYTES, '1048576'),
  'Upload-Metadata': header(
    'The metadata that the client sent when it created the upload.',
    headerText(4_096),
    'filename YS50eHQ=',
  ),
  'Upload-Expires': header(
    'The time at which an incomplete upload is deleted.',
    headerText(32),
    'Sun, 01 Feb 2026 12:00:00 GMT',
  ),
};

describeErrorHeaders({
  'Content-Range': { description: 'The size of the content, in bytes.', schema: headerText(64, '^bytes [*]/[0-9]+$') },
  'Tus-Max-Size': { description: 'The greatest size of an upload, in bytes.', schema: headerText(16, '^[0-9]+$') },
  'Tus-Version': { description: 'The versions of the protocol that the service supports.', schema: headerText(32) },
});
exposeHeaders(
  ...['Upload-Expires', 'Upload-Length', 'Upload-Metadata', 'Upload-Offset'],
  ...['Content-Disposition', 'Content-Range', 'Accept-Ranges'],
  ...['Tus-Resumable', 'Tus-Version', 'Tus-Max-Size', 'Tus-Extension', 'Tus-Checksum-Algorithm'],
);

/** Documents the header that all answers below a path have. */
export const ApiTusHeaders = (): ClassDecorator =>
  ApiAnswerHeaders({
    'Tus-Resumable': {
      ...header('The version of the tus protocol.', headerText(8, '^[0-9.]+$'), TUS_VERSION),
      required: true,
    },
  });

interface AskedHeader {
  name: string;
  required?: boolean;
  description: string;
  schema: object;
  example: string;
  /** True if Swagger UI sends the example. */
  filled?: boolean;
}

/** Documents a header of a request. */
const asks = ({ required = false, filled = required, schema, example, ...rest }: AskedHeader) =>
  ApiHeader({
    ...rest,
    required,
    schema: { ...schema, example },
    ...(filled && { extensions: { [Extension.FILLED]: true } }),
  });

const Version = (required = true) =>
  asks({
    name: 'Tus-Resumable',
    required,
    description: 'The version of the tus protocol.',
    schema: { type: 'string', enum: [TUS_VERSION] },
    example: TUS_VERSION,
  });
const Checksum = () =>
  asks({
    name: 'Upload-Checksum',
    description:
      'The algorithm, `sha1` or `sha256`, a blank, and the digest of the bytes of this request in Base64. If the digest is another, the answer is 460 and the bytes do not count.',
    schema: headerText(51, '^(sha1 [A-Za-z0-9+/]{27}|sha256 [A-Za-z0-9+/]{43})=$'),
    example: 'sha256 uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=',
  });
const Bytes = (required: boolean) => applyDecorators(ApiConsumes(CHUNK_TYPE), ApiBody({ required, schema: BINARY }));

/** Documents a request that creates an upload. */
export const ApiTusCreation = (): MethodDecorator =>
  applyDecorators(
    Version(),
    Checksum(),
    asks({
      name: 'Upload-Length',
      required: true,
      description: 'The size of the complete upload, in bytes.',
      schema: BYTES,
      example: '1048576',
    }),
    asks({
      name: 'Upload-Metadata',
      description:
        'Pairs of a name and a value in Base64, separated by commas. `filename` is the name of the file; only the last part of a path is kept. `filetype` is used when the bytes don’t show their media type, and only for a few types of text and data, such as `text/plain`, `text/csv` and `application/json`. Otherwise the media type is `application/octet-stream`.',
      schema: headerText(4_096),
      example: 'filename YS50eHQ=,filetype dGV4dC9wbGFpbg==',
      filled: true,
    }),
    Bytes(false),
  );

/** Documents a request that appends bytes. */
export const ApiTusChunk = (): MethodDecorator =>
  applyDecorators(
    Version(),
    Checksum(),
    asks({
      name: 'Upload-Offset',
      required: true,
      description: "The offset of these bytes, which must be the upload's own.",
      schema: BYTES,
      example: '0',
    }),
    Bytes(true),
  );

/** Documents the optional version of the protocol. */
export const ApiTusVersion = (): MethodDecorator => Version(false);

/** Headers of a success that answers with the upload. */
export const ApiUploadHeaders = (status: HttpStatus): MethodDecorator =>
  ApiResponse({
    status,
    headers: { ...HEADERS, ETag: header('The entity tag of the current version.', ENTITY_TAG, '"1"') },
  });

/** Documents the headers of a successful answer without a body, which tell the offset. */
export const ApiTusOffset = (): MethodDecorator => ApiResponse({ status: HttpStatus.NO_CONTENT, headers: HEADERS });

const TAG = '"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"';
const CONTENT = {
  [ANY_TYPE]: { schema: BINARY },
};
const CONTENT_HEADERS = {
  ETag: header('The SHA-256 of the bytes.', headerText(66, '^"[0-9a-f]{64}"$'), TAG),
  'Accept-Ranges': header('Says that ranges are supported.', { type: 'string', enum: ['bytes'] }, 'bytes'),
  'Content-Disposition': header(
    'The file name under which to save the content. `inline` for an image that may be shown.',
    headerText(2_048),
    'attachment; filename="a.txt"',
  ),
};

/** Documents the download of the content, or of a range of it. */
export const ApiUploadContent = (): MethodDecorator =>
  applyDecorators(
    asks({
      name: 'Range',
      description: 'The range of bytes to return. Only one range is allowed.',
      schema: headerText(128),
      example: 'bytes=0-1023',
    }),
    asks({
      name: 'If-Range',
      description: 'The entity tag of the content of which you have a part.',
      schema: headerText(128),
      example: TAG,
    }),
    asks({
      name: 'If-None-Match',
      description: 'The entity tags of the copies that you have. The answer is 304 when one of them is current.',
      schema: headerText(4_096),
      example: '"1"',
    }),
    ApiResponse({ status: 200, description: 'OK', headers: CONTENT_HEADERS, content: CONTENT }),
    ApiResponse({
      status: 206,
      description: 'Partial Content',
      headers: {
        ...CONTENT_HEADERS,
        'Content-Range': header('The range of bytes, and the size of the whole.', headerText(64), 'bytes 0-1023/4096'),
      },
      content: CONTENT,
    }),
    ApiResponse({ status: 304, description: 'Not Modified', headers: { ETag: CONTENT_HEADERS.ETag } }),
  );
