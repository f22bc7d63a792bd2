import { existsSync, mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatted, nextTime } from './add';
import { documentsWithout } from './example-documents';
import { EXAMPLES, type Examples, findExamples, settingsOf } from './examples';
import { MIGRATIONS } from './files';
import { RESOURCES } from './project';
import { RELEASES_FOLDER, releasesIn } from '../openapi/releases';
import { type Files, programsIn, withMovedImports } from './source-files';
import { applicationFiles, dropExamplesFile } from './templates/examples';

/** What Prettier knows. */
const HAS_FORMAT = /\.(?:ts|mjs|cjs|json|md)$/;

export interface Move {
  /** By their paths, those that they get. */
  moved: Map<string, string>;
  /** The texts of all files that are moved, changed or new. */
  texts: Files;
}

/**
 * What it takes to leave the examples to the tests. The service has no trace of them afterwards. A database that has them
 * already loses them by a new migration.
 * @throws {Refusal}
 */
export async function moveOfExamples(isApplied: (...names: string[]) => Promise<boolean>): Promise<Move> {
  const examples = findExamples();
  const { moved, changed } = examples;
  const texts: Files = new Map([
    ...programsWith(examples),
    ...documentsWithout(moved, settingsOf(moved.keys())),
    ...applicationFiles(examples),
    ...changed,
  ]);
  if (await isApplied(...examples.migrations.classes)) {
    const time = nextTime();
    texts.set(`${MIGRATIONS}/${time}-drop-examples.ts`, dropExamplesFile(examples, time));
  }
  const all = [...texts].map(
    async ([path, text]) => [path, HAS_FORMAT.test(path) ? await formatted(path, text) : text] as const,
  );
  return { moved, texts: new Map(await Promise.all(all)) };
}

/** The moved files, and all others that import one of them. */
function programsWith({ moved }: Examples): [path: string, text: string][] {
  const programs = [...programsIn('test', 'scripts', 'bench'), ...[...moved.keys()].map(read)];
  return programs.flatMap(([path, text]): [string, string][] => {
    const changed = withMovedImports(path, text, moved);
    return changed === text && !moved.has(path) ? [] : [[moved.get(path) ?? path, changed]];
  });
}

const read = (path: string): [string, string] => [path, readFileSync(path, 'utf8')];

export function moveExamples({ moved, texts }: Move): void {
  for (const [path, text] of texts) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  for (const path of moved.keys()) rmSync(path);
  // The API without the examples is another one, of which nothing was released.
  for (const release of releasesIn()) rmSync(`${RELEASES_FOLDER}/${release}`, { recursive: true });
  for (const noun of EXAMPLES) if (existsSync(`${RESOURCES}/${noun}`)) rmdirSync(`${RESOURCES}/${noun}`);
}

export function described({ moved, texts }: Move): string {
  const targets = new Set(moved.values());
  const others = [...texts.keys()].filter((path) => !targets.has(path)).sort();
  const moves = [...moved].map(([from, to]) => `${from} -> ${to}`);
  return `These move:\n${moves.join('\n')}\nThese change, or are new:\n${others.join('\n')}`;
}
