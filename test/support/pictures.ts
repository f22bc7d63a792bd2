/** The beginning of a file of each type by which it is recognised. The PNG is a whole image of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const PICTURES: Record<string, Buffer> = {
  'image/png': PNG,
  'image/jpeg': Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'),
  'image/gif': Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'),
  'image/webp': Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0', 'latin1'),
  'image/avif': Buffer.from('\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf\0\0\0\x08free', 'latin1'),
};
export const PICTURE = PNG;

/** Files that a browser could run, or take for something else than they are. */
export const ACTIVE: [name: string, filetype: string, content: string][] = [
  ['a.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['a.svg', 'image/svg+xml', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['a.png', 'image/png', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['a.html', 'text/html', '<!doctype html><script>alert(1)</script>'],
  ['a.gif', 'image/gif', '<html><script>alert(1)</script>'],
  ['a.jpg', 'image/jpeg', ' GIF89a<script>alert(1)</script>'],
  ['a.pdf', 'application/pdf', '%PDF-1.7\n1 0 obj\n'],
  ['a.txt', 'text/plain', '<script>alert(1)</script>'],
];
