import { readFileSync } from 'node:fs';
import { clientSources, hasAny, longFiles } from '../support/sources';
import { readParts } from '../../scripts/openapi/documents';

const MAX_LINES = 200;
/** The only packages: what the build puts into the bundle, and what the uploads need beside it. */
const PACKAGES: Record<string, string[]> = { 'call.ts': ['openapi-fetch'], 'uploads.ts': ['tus-js-client'] };
/** The resources that a client needs to be one, and that every service has. */
const KNOWN = ['auth', 'changes', 'uploads'];

describe('The source code of the client', () => {
  it('imports nothing of the service, and no package that a browser cannot load', () => {
    const outside = clientSources.flatMap(({ path, imports }) =>
      imports.filter((target) => !target.startsWith('client/src/')).map((target) => `${path} -> ${target}`),
    );
    const packages = clientSources.filter(({ packages: names }) => names.length > 0);

    expect(clientSources.length).toBeGreaterThan(10);
    expect(outside).toEqual([]);
    expect(Object.fromEntries(packages.map(({ path, packages: names }) => [path, names]))).toEqual(PACKAGES);
  });

  it('loads the uploads only where they are asked for', () => {
    const users = clientSources.filter(({ imports }) => imports.some((target) => target.includes('/uploads')));

    expect(users.map(({ path }) => path)).toEqual([]);
  });

  it('names no resource, so that those of a team are there without a change', () => {
    const paths = [...readParts(2).values()].flatMap((part) => Object.keys(part.paths ?? {}));
    const nouns = new Set(paths.flatMap((path) => /^\/api\/v2\/([\w-]+)/.exec(path)?.[1] ?? []));
    const named = clientSources.flatMap(({ path, text }) => {
      const code = text.replaceAll(/\/\*\*[^]*?\*\/|\/\/[^\n]*/g, '');
      return [...nouns]
        .filter((noun) => !KNOWN.includes(noun) && code.includes(`/${noun}`))
        .map((noun) => `${path}: ${noun}`);
    });

    expect(nouns.size).toBeGreaterThan(3);
    expect(named).toEqual([]);
  });

  it('exports by name, and is checked by the compiler everywhere', () => {
    const offenders = (pattern: RegExp) =>
      clientSources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

    expect(offenders(/^export default\b/m)).toEqual([]);
    expect(clientSources.filter(hasAny).map(({ path }) => path)).toEqual([]);
    expect(offenders(/@ts-|eslint-disable/)).toEqual([]);
  });

  it('consists of files that fit into a head', () => {
    const files = longFiles(['client'], MAX_LINES).filter((path) => !path.includes('generated'));

    expect(files).toEqual([]);
  });

  it('has no part in the image of the service', () => {
    expect(readFileSync('Dockerfile', 'utf8')).not.toContain('client');
    expect(readFileSync('.dockerignore', 'utf8')).not.toContain('client');
  });
});
