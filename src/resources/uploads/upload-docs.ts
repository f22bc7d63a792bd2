import { applyDecorators, HttpStatus } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiHeader, ApiResponse } from '@nestjs/swagger';
import { Extension, TellsAlways } from '../../conventions/docs/api.decorators';
import { ENTITY_TAG } from '../../conventions/docs/conditions';
import { headerText } from '../../conventions/docs/headers';
import { ANY_TYPE } from '../../conventions/requests/accept.guard';
import { CHUNK_TYPE, TUS_VERSION } from './upload-headers';

const BYTES = headerText(16, '^(0|[1-9][0-9]*)$');
/** As long as they like, which has to be said. */
const BINARY = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER };
const header = (description: string, schema: object, example: string) => ({ description, schema, example });

const HEADERS = {
  'Upload-Offset': header('Bytes that have arrived for good.', BYTES, '524288'),
  'Upload-Length': header('Bytes that the upload is to have.', BYTES, '1048576'),
  'Upload-Metadata': header('What was said of the file when it was created.', headerText(4_096), 'filename YS50eHQ='),
  'Upload-Expires': header(
    'When the upload goes if it isn’t complete.',
    headerText(32),
    'Sun, 01 Feb 2026 12:00:00 GMT',
  ),
};

/** Routes below which the protocol is spoken. */
export const SpeaksTus = (): ClassDecorator =>
  TellsAlways({
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
  /** Whether the page sends the example as it stands. */
  filled?: boolean;
}

/** A header of a request. */
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
      '`sha1` or `sha256`, a blank, and that of the bytes of this request in Base64; 460 when it is another, and none of them counts.',
    schema: headerText(51, '^(sha1 [A-Za-z0-9+/]{27}|sha256 [A-Za-z0-9+/]{43})=$'),
    example: 'sha256 uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=',
  });
const Bytes = (required: boolean) => applyDecorators(ApiConsumes(CHUNK_TYPE), ApiBody({ required, schema: BINARY }));

/** A request that creates an upload. */
export const TakesUpload = (): MethodDecorator =>
  applyDecorators(
    Version(),
    Checksum(),
    asks({
      name: 'Upload-Length',
      required: true,
      description: 'Bytes that the upload is to have.',
      schema: BYTES,
      example: '1048576',
    }),
    asks({
      name: 'Upload-Metadata',
      description:
        'Pairs of a name and a value in Base64, separated by commas. `filename` is what it is called, by the last part of a path. `filetype` counts where the bytes don’t show what they are, and for a few types of text and data alone, such as `text/plain`, `text/csv` and `application/json`; any other is `application/octet-stream`.',
      schema: headerText(4_096),
      example: 'filename YS50eHQ=,filetype dGV4dC9wbGFpbg==',
      filled: true,
    }),
    Bytes(false),
  );

/** A request that appends bytes. */
export const TakesChunk = (): MethodDecorator =>
  applyDecorators(
    Version(),
    Checksum(),
    asks({
      name: 'Upload-Offset',
      required: true,
      description: 'Where the bytes belong: where the upload stands.',
      schema: BYTES,
      example: '0',
    }),
    Bytes(true),
  );

/** A request that a client of the protocol names its version in, and another need not. */
export const TakesVersion = (): MethodDecorator => Version(false);

/** Headers of a success that answers with the upload. */
export const TellsUpload = (status: HttpStatus): MethodDecorator =>
  ApiResponse({ status, headers: { ...HEADERS, ETag: header('Its version.', ENTITY_TAG, '"1"') } });

/** Headers of a success that only says where the upload stands. */
export const TellsOffset = (): MethodDecorator => ApiResponse({ status: HttpStatus.NO_CONTENT, headers: HEADERS });

const TAG = '"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"';
const CONTENT = {
  [ANY_TYPE]: { schema: BINARY },
};
const CONTENT_HEADERS = {
  ETag: header('Stands for these very bytes: their SHA-256.', headerText(66, '^"[0-9a-f]{64}"$'), TAG),
  'Accept-Ranges': header('That a range can be asked for.', { type: 'string', enum: ['bytes'] }, 'bytes'),
  'Content-Disposition': header('To be saved under this name.', headerText(2_048), 'attachment; filename="a.txt"'),
};

/** Bytes, whole or one range of them. */
export const TellsContent = (): MethodDecorator =>
  applyDecorators(
    asks({
      name: 'Range',
      description: 'The one range of bytes that you want.',
      schema: headerText(128),
      example: 'bytes=0-1023',
    }),
    asks({
      name: 'If-Range',
      description: 'The entity tag of what you have a part of.',
      schema: headerText(128),
      example: TAG,
    }),
    asks({
      name: 'If-None-Match',
      description: 'Entity tags that you have; 304 when one of them is current.',
      schema: headerText(4_096),
      example: '"1"',
    }),
    ApiResponse({ status: 200, description: 'OK', headers: CONTENT_HEADERS, content: CONTENT }),
    ApiResponse({
      status: 206,
      description: 'Partial Content',
      headers: {
        ...CONTENT_HEADERS,
        'Content-Range': header('Which bytes of how many.', headerText(64), 'bytes 0-1023/4096'),
      },
      content: CONTENT,
    }),
    ApiResponse({ status: 304, description: 'Not Modified', headers: { ETag: CONTENT_HEADERS.ETag } }),
  );
