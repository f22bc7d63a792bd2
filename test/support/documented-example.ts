import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Wish } from '../../scripts/resource/plan';

interface Block {
  path: string;
  language: string;
  code: string;
}

/** The path of a file on a line of its own, and the code block after it. */
const BLOCK = /^`([^`\n]+)`:\n\n```(\w+)\n(.*?)^```$/gms;
/** Stands for any lines. */
const GAP = ' …\n';

/**
 * The files after a documentation page: new ones as shown, others with the shown lines added and taken away.
 * @param before files that aren't on the disk
 */
export function documentedFiles(page: string, before: Map<string, string>): Map<string, string> {
  const blocks = [...page.matchAll(BLOCK)].map(([, path, language, code]): Block => ({ path, language, code }));
  const after = new Map(before);
  for (const block of blocks) {
    const text = after.get(block.path) ?? (existsSync(block.path) ? readFileSync(block.path, 'utf8') : '');
    after.set(block.path, block.language === 'ts' ? block.code : changed(block, text));
  }
  return after;
}

/** What the first command of a page that adds a resource asks for. Undefined if it has none. */
export function documentedWish(page: string): Wish | undefined {
  const [, command] = /^npm run resource -- add (.+)$/m.exec(page) ?? [];
  if (command === undefined) return undefined;
  const words = command.match(/'[^']*'|\S+/g)!.map((word) => word.replace(/^'(.*)'$/, '$1'));
  const options = { owner: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
  const [noun, ...attributes] = positionals;
  return { ...values, noun, attributes };
}

/** @throws Error for an anchor line that is missing or not unique */
function changed({ path, code }: Block, given: string): string {
  return code.split(GAP).reduce((text, hunk) => {
    const lines = hunk.split('\n').slice(0, -1);
    const side = (sign: '+' | '-') =>
      lines
        .filter((line) => line.startsWith(sign) || line.startsWith(' '))
        .map((line) => `${line.slice(1)}\n`)
        .join('');
    const [before, after, ...others] = text.split(side('-'));
    if (after === undefined || others.length > 0) throw new Error(`${path} has this not just once:\n${side('-')}`);
    return before + side('+') + after;
  }, given);
}
