import type { Plan } from '../plan';
import { guardedOf } from './source';

/** Anonymous, owner, other, administrator, suspended, expired. */
const STATUSES = {
  public: [0, 0, 0, 0, 401, 401],
  user: [401, 0, 0, 0, 401, 401],
  owner: [401, 0, 403, 0, 401, 401],
  admin: [401, 403, 403, 0, 401, 401],
};
const OTHER = 2;
const PATH_WIDTH = 42;

/** The rows of the table of access: `GET /api/v1/invoices 401 200 ...`. */
export function accessRows(plan: Plan): string {
  const { names, parent, read, write } = plan;
  const noun = `/api/v1/${names.noun}`;
  const collection = parent ? `/api/v1/${parent.names.noun}/:id/${names.noun}` : noun;
  const ofList = read === 'owner' ? 'user' : read;
  const ofPost = write === 'owner' ? 'user' : write;
  // The tests name a row of the owner, which others may not read.
  const refused = guardedOf(plan).some(({ attribute, to }) => attribute.fallback === undefined && to.isPrivate);
  const naming = (statuses: number[]) =>
    statuses.map((one, index) => (refused && one === 0 && index === OTHER ? 400 : one));
  return [
    row('GET', collection, STATUSES[ofList], 200, plan),
    row('GET', `${noun}/:id`, STATUSES[read], 200, plan),
    row('POST', collection, naming(STATUSES[ofPost]), 201, plan),
    row('PUT', `${noun}/:id`, naming(STATUSES[write]), 200, plan),
    row('PATCH', `${noun}/:id`, STATUSES[write], 200, plan),
    row('DELETE', `${noun}/:id`, STATUSES[write], 204, plan),
  ].join('\n');
}

/** A caller who may not read the parent is refused as by the parent. */
function row(method: string, path: string, statuses: number[], success: number, { parent }: Plan): string {
  const ofParent = parent?.readStatuses?.map(Number) ?? [];
  const all = statuses.map((status, index) => {
    if (status !== 0) return status;
    return ofParent[index] >= 400 ? ofParent[index] : success;
  });
  return `    ${method.padEnd(6)} ${path.padEnd(PATH_WIDTH)} ${all.map((status) => String(status).padStart(6)).join('')}`;
}
