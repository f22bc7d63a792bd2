/** A request of a file for editors' HTTP clients. */
export interface FileRequest {
  title: string;
  /** The status that the title promises. */
  status: number;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const VARIABLE = /^@(\w+) = (.*)$/gm;
const REQUEST = /^### (.+?) \((\d{3})\)\n([A-Z]+) (\S+)\n((?:[\w-]+: .*\n)*)(?:\n([^]*))?$/;

/**
 * Reads the syntax that VS Code's REST Client and JetBrains share: variables, titles, requests.
 * @throws {Error} for what both might read differently
 */
export function requestsIn(file: string): FileRequest[] {
  const [, ...blocks] = file.split(/^(?=### )/m);
  return blocks.map((block) => {
    const found = REQUEST.exec(block);
    if (!found) throw new Error(`This is no request with a title and a status:\n${block}`);
    const [, title, status, method, url, lines, body = ''] = found;
    const headers = Object.fromEntries(
      [...lines.matchAll(/^([\w-]+): (.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    return { title, status: Number(status), method, url, headers, body: body.trim() || undefined };
  });
}

/** The variables of the file. One may use those before it. */
export function variablesIn(file: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [, name, value] of file.matchAll(VARIABLE)) variables[name] = filled(value, variables);
  return variables;
}

/** @throws {Error} for a variable without a value */
export function filled(text: string, variables: Record<string, string>): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_found, name: string) => {
    if (!(name in variables)) throw new Error(`The variable ${name} has no value`);
    return variables[name];
  });
}
