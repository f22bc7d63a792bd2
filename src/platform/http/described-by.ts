import type { Application } from 'express';
import type { Version } from './api-version';

type DocumentPath = (version: Version) => string;

const documents = new WeakMap<Application, DocumentPath>();

/** Lets answers of an application link to the document of their version. */
export function describeBy(app: Application, pathOf: DocumentPath): void {
  documents.set(app, pathOf);
}

/** The link to the document of a version (RFC 8288). Undefined if the application serves none. */
export function describedBy(app: Application, version: Version): string | undefined {
  const path = documents.get(app)?.(version);
  return path === undefined ? undefined : `<${path}>; rel="describedby"`;
}
