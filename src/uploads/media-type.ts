import type { ByteStore } from './bytes/byte-store';
import { UNKNOWN_TYPE } from './upload-metadata';

/** The number of bytes by which the library recognises a file type. */
const BEGINNING = 4_100;
/** An XML file may be a page or a drawing, whose scripts a browser would run. */
const ACTIVE = 'application/xml';

/** The library would unpack gzip and look into what is inside: 2 KB of it can be a ZIP file of 1,024 entries. */
const NOT_INTO_GZIP = { gzipProbeDepth: 1 };

/** The media type that the bytes of a complete upload show. @param otherwise the media type if they show none */
export async function mediaTypeOf(bytes: ByteStore, key: string, size: number, otherwise: string): Promise<string> {
  if (size === 0) return otherwise;
  const chunks: Buffer[] = [];
  const beginning = await bytes.read(key, { start: 0, end: Math.min(size, BEGINNING) - 1 });
  for await (const chunk of beginning as AsyncIterable<Buffer>) chunks.push(chunk);
  const found = Buffer.concat(chunks);
  // Loaded on demand, because it takes time at the start.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { FileTypeParser } = require('file-type') as typeof import('file-type');
  const parser = Object.assign(new FileTypeParser(), NOT_INTO_GZIP);
  const recognised = await parser.fromBuffer(found).catch(() => undefined);
  if (!recognised) return otherwise;
  const [type] = recognised.mime.split(';');
  return type === ACTIVE ? UNKNOWN_TYPE : type;
}
