import { fileTypeFromBuffer } from 'file-type';
import type { ByteStore } from './bytes/byte-store';
import { UNKNOWN_TYPE } from './upload-metadata';

/** What the library looks at, at most, to know a file by its beginning. */
const BEGINNING = 4_100;
/** A page or a drawing may be one, and a browser runs what stands in it. */
const ACTIVE = 'application/xml';

/** What the bytes of a complete upload are, if they say so. @param otherwise if they don't */
export async function mediaTypeOf(bytes: ByteStore, key: string, size: number, otherwise: string): Promise<string> {
  if (size === 0) return otherwise;
  const chunks: Buffer[] = [];
  const beginning = await bytes.read(key, { start: 0, end: Math.min(size, BEGINNING) - 1 });
  for await (const chunk of beginning as AsyncIterable<Buffer>) chunks.push(chunk);
  const found = await fileTypeFromBuffer(Buffer.concat(chunks)).catch(() => undefined);
  if (!found) return otherwise;
  const [type] = found.mime.split(';');
  return type === ACTIVE ? UNKNOWN_TYPE : type;
}
