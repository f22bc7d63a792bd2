/** The used properties of a part of a multipart upload. */
export interface Part {
  PartNumber?: number;
  Size?: number;
}

/** The name of the object with the beginning of a part, up to an offset of the upload. */
export const tailOf = (key: string, offset: number): string => `${key}.${offset}.part`;

const TAIL = /\.(\d+)\.part$/;

/** Whether an object has this name for an earlier offset. */
export function isTailBefore(name: string, offset: number): boolean {
  const [, end] = TAIL.exec(name) ?? [];
  return Number(end) < offset;
}

/** Whether parts are the first `count` ones of an upload, each of `size` bytes. */
export function areConsecutive(parts: Part[], count: number, size: number): boolean {
  return parts.length === count && parts.every((part, index) => part.PartNumber === index + 1 && part.Size === size);
}
