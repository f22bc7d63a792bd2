import type { ByteStore } from './bytes/byte-store';
import { UNKNOWN_TYPE } from './upload-metadata';

/** The number of bytes by which the library recognises a file type. */
const BEGINNING = 4_100;
/** An XML file may be a page or a drawing, whose scripts a browser would run. */
const ACTIVE = 'application/xml';

/** The media type that the bytes of a complete upload show. @param otherwise the media type if they show none */
export async function mediaTypeOf(bytes: ByteStore, key: string, size: number, otherwise: string): Promise<string> {
  if (size === 0) return otherwise;
  const chunks: Buffer[] = [];
  const beginning = await bytes.read(key, { start: 0, end: Math.min(size, BEGINNING) - 1 });
  for await (const chunk of beginning as AsyncIterable<Buffer>) chunks.push(chunk);
  // Loaded on demand, because it takes time at the start.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { fileTypeFromBuffer } = require('file-type') as typeof import('file-type');
  const found = await fileTypeFromBuffer(Buffer.concat(chunks)).catch(() => undefined);
  if (!found) return otherwise;
  const [type] = found.mime.split(';');
  return type === ACTIVE ? UNKNOWN_TYPE : type;
}
