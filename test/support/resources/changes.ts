import { plain } from '../prepared-request';
import type { Resource } from '../resource';

export const changes: Resource = {
  noun: 'changes',
  requests: {
    'GET /api/v1/changes': plain,
  },
  access: `
  GET    /api/v1/changes                              401    200    200    200        401      401
`,
  collections: [],
};
