let users = 0;

/** The text of a body that creates another user each time. */
export function aNewUserOnTheWire(): string {
  const username = `wire${++users}`;
  return JSON.stringify({ username, email: `${username}@example.com`, password: 'long enough' });
}

/** A POST as it goes over the wire. */
export const postOnTheWire = (path: string, headers: Record<string, string | number>, body = '') =>
  `POST ${path} HTTP/1.1\r\n${Object.entries({ Host: 'x', 'Content-Type': 'application/json', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`;

/** A chunk of a body whose `Transfer-Encoding` is chunked. */
export const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
