import { existsSync, readFileSync } from 'node:fs';

interface Block {
  path: string;
  language: string;
  code: string;
}

/** The path of a file on a line of its own, and the code block after it. */
const BLOCK = /^`([^`\n]+)`:\n\n```(\w+)\n(.*?)^```$/gms;
/** Stands for any lines. */
const GAP = ' …\n';

/** The files of a documentation page: new ones as shown, existing ones with the shown lines added. */
export function documentedFiles(page: string): Map<string, string> {
  const blocks = [...page.matchAll(BLOCK)].map(([, path, language, code]): Block => ({ path, language, code }));
  const files = blocks.filter(({ path, language }) => language === 'ts' || existsSync(path));
  return new Map(files.map((block) => [block.path, block.language === 'ts' ? block.code : changed(block)]));
}

/** @throws Error for an anchor line that is missing or not unique */
function changed({ path, code }: Block): string {
  return code.split(GAP).reduce(
    (text, hunk) => {
      const lines = hunk.split('\n').slice(0, -1);
      const side = (sign: '+' | '-') =>
        lines
          .filter((line) => line.startsWith(sign) || line.startsWith(' '))
          .map((line) => `${line.slice(1)}\n`)
          .join('');
      const [before, after, ...others] = text.split(side('-'));
      if (after === undefined || others.length > 0) throw new Error(`${path} has this not just once:\n${side('-')}`);
      return before + side('+') + after;
    },
    readFileSync(path, 'utf8'),
  );
}
