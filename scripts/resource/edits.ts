import type { Plan } from './plan';

/** Lines that existing files get, each so that it can be taken out again. */
export interface Edit {
  path: string;
  /** What stands before the first added line that sorts after none of its neighbours, or before which it goes. */
  add: (text: string) => string;
  remove: (text: string) => string;
}

interface Names {
  noun: string;
  plural: string;
  many: string;
  parents: string[];
}

/** The places outside its folder that name a resource. */
export function editsOf({ noun, plural, many, parents }: Names): Edit[] {
  const key = /-/.test(noun) ? `'${noun}'` : noun;
  const parentLine = `  ${key}: [${parents.map((name) => `'${name}'`).join(', ')}],\n`;
  return [
    edit('src/app.module.ts', [
      [`import { ${plural}Module } from './resources/${noun}/${noun}.module';\n`, amongImports('./resources/')],
      [`  ${plural}Module,\n`, before('  // One line for each')],
    ]),
    edit('src/demo/demo-data.ts', [
      [`import { add${plural} } from './${noun}';\n`, amongImports('./')],
      [`  await add${plural}(manager);\n`, beforeEndOf('async function fill(')],
    ]),
    edit('test/support/resources.ts', [
      [`import { ${many} } from './resources/${noun}';\n`, amongImports('./resources/')],
      [`  ${many},\n`, before('  // One line for each')],
    ]),
    ...(parents.length > 0
      ? [edit('test/conventions/architecture.spec.ts', [[parentLine, beforeEndOf('const parents')]])]
      : []),
  ];
}

export const editsOfPlan = ({ names, parent, targets }: Plan): Edit[] => {
  const parents = new Set([...(parent ? [parent.names.noun] : []), ...targets.map((one) => one.names.noun)]);
  return editsOf({ ...names, parents: [...parents].filter((noun) => noun !== names.noun).sort() });
};

type Place = (text: string, line: string) => number;

function edit(path: string, lines: [line: string, place: Place][]): Edit {
  return {
    path,
    add: (text) => lines.reduce((now, [line, place]) => inserted(now, line, place(now, line), path), text),
    remove: (text) => lines.reduce((now, [line]) => now.replace(now.includes(line) ? line : broken(line), ''), text),
  };
}

/** A line with a list that Prettier has broken. */
function broken(line: string): RegExp | string {
  const [key, list] = line.split('[');
  return list === undefined ? line : new RegExp(`^${key}\\[[^\\]]*\\],\\n`, 'm');
}

/** @throws {Error} if the file has no such place */
function inserted(text: string, line: string, at: number, path: string): string {
  if (at < 0) throw new Error(`${path} has no place for this line:\n${line}`);
  return text.slice(0, at) + line + text.slice(at);
}

const before =
  (mark: string): Place =>
  (text) =>
    text.indexOf(mark);

/** Before the brace that ends it. */
const beforeEndOf =
  (start: string): Place =>
  (text) => {
    const end = text.indexOf('\n}', text.indexOf(start));
    return text.includes(start) && end >= 0 ? end + 1 : -1;
  };

/** In the order of the alphabet among the imports of this folder. */
const amongImports =
  (folder: string): Place =>
  (text, line) => {
    const from = (one: string) => / from '(.*)'/.exec(one)?.[1] ?? '';
    const imports = [...text.matchAll(/^import .*\n/gm)].filter(([one]) => from(one).startsWith(folder));
    const next = imports.find(([one]) => from(one) > from(line));
    const last = imports.at(-1);
    return next?.index ?? (last ? last.index + last[0].length : -1);
  };
