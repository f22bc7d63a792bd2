import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the tested application is, from the root of the project. */
interface Places {
  /** Its compiled `main.ts`. */
  program: string;
  /** Its compiled command that fills a database. */
  seed: string;
  /** What it is compiled by. */
  build: string;
  /** The folder of its OpenAPI documents. */
  documents: string;
  /** Folders of migrations beside those of `src`. */
  migrations: string[];
}

/** Programs that are no TypeScript read the same file. */
export const PLACES = JSON.parse(readFileSync(join(__dirname, 'application-places.json'), 'utf8')) as Places;
