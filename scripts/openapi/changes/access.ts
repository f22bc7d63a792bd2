import type { Changes } from './change';
import type { Document, Operation } from './document';
import type { Documents } from './schemas';

type Requirement = Record<string, string[]>;

/** The last sentence of a description that tells who may call the operation. */
const AUDIENCE = /^For ([^\n.]+)\.$/gm;
/** From the widest audience; all others are narrower. */
const WIDE = ['everyone', 'everyone who signed in'];

/** Compares who may call an operation, as far as the documents tell. */
export function compareAccess(before: Operation, after: Operation, documents: Documents, to: Changes): void {
  const [olds, news] = [waysOf(before, documents[0]), waysOf(after, documents[1])];
  for (const way of olds.filter((one) => !news.includes(one))) to.breaks(`can't be called with ${way} any more`);
  for (const way of news.filter((one) => !olds.includes(one))) to.adds(`can be called with ${way}`);
  compareAudiences(audienceOf(before), audienceOf(after), to);
}

/** The ways to be let in, each as a text. */
function waysOf({ security }: Operation, document: Document): string[] {
  const ways: Requirement[] = security ?? document.security ?? [];
  const names = ways.map((way) => Object.keys(way).sort().join(' and ') || 'no credentials');
  return names.length === 0 ? ['no credentials'] : names;
}

function audienceOf({ description = '' }: Operation): string | undefined {
  return [...description.matchAll(AUDIENCE)].at(-1)?.[1];
}

function compareAudiences(before: string | undefined, after: string | undefined, to: Changes): void {
  if (before === undefined || after === undefined || before === after) return;
  const [old, now] = [rankOf(before), rankOf(after)];
  const isNarrower = now > old || (now === old && !peopleIn(before).every((one) => peopleIn(after).includes(one)));
  to.add(isNarrower, `is for ${after}, not for ${before}`);
}

const rankOf = (audience: string): number => (WIDE.includes(audience) ? WIDE.indexOf(audience) : WIDE.length);
const peopleIn = (audience: string): string[] => audience.split(/, and |, | and /);
