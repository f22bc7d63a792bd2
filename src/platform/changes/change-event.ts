import { type Caller, isAdmin } from '../auth/caller';

/** What happened to a resource. */
export type ChangeKind = 'CREATED' | 'UPDATED' | 'DELETED';

export interface Change {
  /** The position of the change. */
  position: number;
  /** The resource, as in its paths. */
  type: string;
  id: number;
  change: ChangeKind;
  /** The version after the change; before it, of a deletion. */
  version: number;
  /** The moment of the change. */
  at: Date;
}

/** An audit event, as the feed reads it. */
export interface ChangeEvent {
  id: number;
  resource: string;
  resource_id: string;
  action: ChangeKind;
  version: number;
  created_at: Date | string;
  readers_before: number | null;
  readers_after: number | null;
}

/** Who may read a row: everybody, or the user with this id. */
export const EVERYBODY = 0;

/** Whose changes a caller is told: the user's id; null for administrators, who are told all. */
export const readerOf = (caller: Caller): number | null => (isAdmin(caller) ? null : caller.id);

/** What an event is for this reader; undefined for one who could not read the row, and still can't. */
export function kindFor(event: ChangeEvent, reader: number | null): ChangeKind | undefined {
  const before = mayRead(event.readers_before, reader);
  const after = mayRead(event.readers_after, reader);
  // What appears or disappears for this reader was made or deleted for it.
  if (before === after) return before ? event.action : undefined;
  return after ? 'CREATED' : 'DELETED';
}

export function changeOf(event: ChangeEvent, change: ChangeKind): Change {
  const { id, resource, resource_id, version, created_at } = event;
  return { position: id, type: resource, id: Number(resource_id), change, version, at: new Date(created_at) };
}

function mayRead(readers: number | null, reader: number | null): boolean {
  return readers !== null && (reader === null || readers === EVERYBODY || readers === reader);
}
