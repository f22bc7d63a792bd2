import { existsSync, readFileSync } from 'node:fs';

interface Block {
  path: string;
  language: string;
  code: string;
}

/** A file's path by itself on a line, and the block of its code below. */
const BLOCK = /^`([^`\n]+)`:\n\n```(\w+)\n(.*?)^```$/gms;
/** Anything may stand here. */
const GAP = ' …\n';

/** The files that a page of documentation shows: new ones as they stand there, others with its lines added to them. */
export function documentedFiles(page: string): Map<string, string> {
  const blocks = [...page.matchAll(BLOCK)].map(([, path, language, code]): Block => ({ path, language, code }));
  const files = blocks.filter(({ path, language }) => language === 'ts' || existsSync(path));
  return new Map(files.map((block) => [block.path, block.language === 'ts' ? block.code : changed(block)]));
}

/** @throws Error where a line that should be there is not, or stands there twice */
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
