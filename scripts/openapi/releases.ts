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

/**
 * Writes the documents of a release.
 * @throws {Error} if the release is there already: what was released doesn't change
 */
export function writeRelease(name: string, documents: Released, folder = RELEASES_FOLDER): string[] {
  const place = `${folder}/${name}`;
  if (existsSync(place)) {
    throw new Error(`${place} is there, and what was released doesn't change: raise "version" in package.json`);
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

/** Compares a version's document with the released one: what has changed, and whether its number allows that. */
export function verdictOn(before: Document, after: Document): Verdict {
  const changes = changesBetween(before, after);
  const [[oldMajor, oldMinor], [major, minor]] = [before, after].map(({ info }) => partsOf(info.version));
  if (major !== oldMajor || changes.length === 0) return { changes };
  if (changes.some(({ breaking }) => breaking)) {
    return { changes, problem: 'A breaking change needs a new version of the API, beside the released one.' };
  }
  if (minor > oldMinor) return { changes };
  return { changes, problem: `An addition raises the minor version: write ${major}.${oldMinor + 1}.0 in ${PLACE}.` };
}

const partsOf = (version: string): number[] => version.split('.').map(Number);

function compareReleases(one: string, other: string): number {
  const [[a, b, c], [d, e, f]] = [partsOf(one), partsOf(other)];
  return a - d || b - e || c - f;
}
