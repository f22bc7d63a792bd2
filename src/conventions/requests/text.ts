/** One form for texts that look the same: NFC and, but for a secret, without blanks around it. */
export function normalise(text: string, { multiline = false, secret = false }): string {
  const composed = text.normalize('NFC');
  if (secret) return composed;
  // A form on Windows sends CRLF for the one newline that its user typed.
  return (multiline ? composed.replaceAll('\r\n', '\n') : composed).trim();
}

/** Counted in code points. */
export function hasLength(text: string, min: number, max: number): boolean {
  // A code point takes one or two UTF-16 units: no need to count in a text that is too long at any rate.
  if (text.length > 2 * max) return false;
  const length = [...text].length;
  return length >= min && length <= max;
}

export function lengthMessage(min: number, max: number): string {
  return min === 0 ? `must be at most ${max} characters` : `must be ${min} to ${max} characters`;
}
