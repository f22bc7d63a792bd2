import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Change, changesBetween, type Document } from './changes';

export type { Change, Document };

/** The folder of the released documents: one folder for each release, with the document of each version. */
export const RELEASES_FOLDER = 'docs/releases';
const RELEASE = /^\d+\.\d+\.\d+$/;
const DOCUMENT = /^v(\d+)\.json$/;

/** The documents of a release, by the version of the API. */
export type Released = Map<number, Document>;

/** The names of the releases, the newest last. */
export function releasesIn(folder = RELEASES_FOLDER): string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => RELEASE.test(name)) : [];
  return names.sort(compareReleases);
}

/** The newest release, and its documents; undefined before the first. */
export function newestRelease(folder = RELEASES_FOLDER): { name: string; documents: Released } | undefined {
  const name = releasesIn(folder).at(-1);
  if (name === undefined) return undefined;
  const documents: Released = new Map();
  for (const file of readdirSync(`${folder}/${name}`)) {
    const [, version] = DOCUMENT.exec(file) ?? [];
    if (version) documents.set(Number(version), readDocument(`${folder}/${name}/${file}`));
  }
  return { name, documents };
}

export const readDocument = (file: string): Document => JSON.parse(readFileSync(file, 'utf8')) as Document;

/** Whether the change log calls a release unreleased, so that its documents may still change (D-233). */
export function isDraft(name: string, changes = readFileSync('CHANGELOG.md', 'utf8')): boolean {
  return changes.split('\n').some((line) => line.startsWith(`## ${name} `) && line.includes('(unreleased)'));
}

/**
 * Writes the documents of a release, or those of a draft anew.
 * @throws {Error} if the release is there already, and no draft: what was released doesn't change
 */
export function writeRelease(
  name: string,
  documents: Released,
  { folder = RELEASES_FOLDER, draft = false } = {},
): string[] {
  const place = `${folder}/${name}`;
  if (existsSync(place) && !draft) {
    throw new Error(
      `${place} is there, and what was released doesn't change: raise "version" in package.json, or, if ${name} isn't ` +
        'published yet, write "(unreleased)" behind it in CHANGELOG.md',
    );
  }
  mkdirSync(place, { recursive: true });
  return [...documents].map(([version, document]) => {
    const file = `${place}/v${version}.json`;
    writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
    return file;
  });
}

export interface Verdict {
  changes: Change[];
  /** What has to be done before the documents may be released. */
  problem?: string;
}

/** The place of the number that an addition raises. */
const PLACE = 'RELEASES in src/platform/http/api-version.ts';
const BREAKING = 'A breaking change needs a new version of the API, beside the released one.';
const MEANT =
  'A breaking change. The release is not published yet: if the change is meant, npm run openapi:release writes its ' +
  'documents anew.';

/**
 * Compares a version's document with the released one: what has changed, and whether its number allows that.
 * @param draft whether the release isn't published yet, so that additions belong to it
 */
export function verdictOn(before: Document, after: Document, draft = false): Verdict {
  const changes = changesBetween(before, after);
  const [[oldMajor, oldMinor], [major, minor]] = [before, after].map(({ info }) => partsOf(info.version));
  if (major !== oldMajor || changes.length === 0) return { changes };
  if (changes.some(({ breaking }) => breaking)) return { changes, problem: draft ? MEANT : BREAKING };
  if (draft) return { changes };
  if (minor > oldMinor) return { changes };
  return { changes, problem: `An addition raises the minor version: write ${major}.${oldMinor + 1}.0 in ${PLACE}.` };
}

const partsOf = (version: string): number[] => version.split('.').map(Number);

function compareReleases(one: string, other: string): number {
  const [[a, b, c], [d, e, f]] = [partsOf(one), partsOf(other)];
  return a - d || b - e || c - f;
}
