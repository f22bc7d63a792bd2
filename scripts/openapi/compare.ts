// npm run openapi:changes: says in words what has changed in the documents since the last release, and whether it is
// breaking. It fails if a version's number doesn't allow its changes.
import { makeWholes, VERSIONS } from './documents';
import {
  type Change,
  type Document,
  isDraft,
  newestRelease,
  readDocument,
  RELEASES_FOLDER,
  verdictOn,
} from './releases';

const release = newestRelease();
const draft = release !== undefined && isDraft(release.name);
const files = makeWholes();
const documents = VERSIONS.map((version, index) => [version, readDocument(files[index])] as const);

if (release) {
  const problems = documents.flatMap(([version, document]) =>
    report(version, release.documents.get(version), document),
  );
  problems.forEach((problem) => console.error(problem));
  process.exitCode = Number(problems.length > 0);
} else console.log(`${RELEASES_FOLDER}/ has no release yet. npm run openapi:release writes one.`);

/** Prints what has changed in a version. Returns what has to be done before it may be released. */
function report(version: number, before: Document | undefined, after: Document): string[] {
  const title = `Version ${version} (${after.info.version}) since ${release!.name}${draft ? ', which is unreleased' : ''}`;
  const { changes, problem } = before ? verdictOn(before, after, draft) : { changes: [], problem: undefined };
  console.log(
    [`${title}: ${before ? changes.length || 'no' : 'new, without'} changes`, ...linesOf(changes)].join('\n'),
  );
  return problem === undefined ? [] : [`Version ${version}: ${problem}`];
}

/** The breaking ones first. */
function linesOf(changes: Change[]): string[] {
  const lineOf = ({ breaking, where, what }: Change) => `  ${breaking ? 'breaking' : 'addition'}  ${where}: ${what}`;
  return [true, false].flatMap((breaking) => changes.filter((one) => one.breaking === breaking).map(lineOf));
}
