import { camel } from '../names';
import type { Plan } from '../plan';
import { idOf } from '../project';
import { guardedOf } from './source';

/** What the routes and the service have to know of the caller. */
export interface Access {
  /** The decorators of routes that read, and of those that write. */
  reads: string;
  writes: string;
  /** Whether these functions take the caller. */
  readTakesCaller: boolean;
  writeTakesCaller: boolean;
  createTakesCaller: boolean;
  removeTakesCaller: boolean;
  /** The type of a reader, who needs no token where everybody reads. */
  reader: string;
  /** Whether a GET or a change answers 403 to users who don't own the row or its parent. */
  readIsPrivate: boolean;
  writeIsPrivate: boolean;
  /** The variables of the parent: its id, and its service. */
  parentId?: string;
  parentService?: string;
}

export function accessOf(plan: Plan): Access {
  const { read, write, owner, parent } = plan;
  const parentTakes = parent?.getTakesCaller ?? false;
  const takesCaller = owner || parentTakes || guardedOf(plan).some(({ to }) => to.getTakesCaller);
  const readTakesCaller = read === 'owner' || parentTakes;
  const readIsPrivate = read === 'owner' || (parent?.isPrivate ?? false);
  return {
    reads: decoratorOf(read),
    writes: decoratorOf(write),
    readTakesCaller,
    writeTakesCaller: takesCaller,
    createTakesCaller: takesCaller,
    removeTakesCaller: owner || parentTakes,
    reader: read === 'public' ? 'Caller | undefined' : 'Caller',
    readIsPrivate,
    // Administrators may change what belongs to others.
    writeIsPrivate: owner || (readIsPrivate && write !== 'admin'),
    parentId: parent && camel(idOf(parent)),
    parentService: parent?.names.many,
  };
}

function decoratorOf(level: Plan['read']): string {
  if (level === 'public') return '@Public()';
  return level === 'admin' ? '@Roles(Role.ADMIN)' : '@Roles(Role.USER)';
}
