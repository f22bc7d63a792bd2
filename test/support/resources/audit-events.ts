import { AuditEvent } from '../../../src/platform';
import { plain } from '../prepared-request';
import { each, type Resource } from '../resource';

export const auditEvents: Resource = {
  noun: 'audit-events',
  requests: {
    'GET /api/v1/audit-events': plain,
  },
  access: `
  GET    /api/v1/audit-events                         401    403    403    200        401      401
`,
  collections: [
    {
      name: '/audit-events',
      table: 'audit_events',
      attributes: [
        ...['id', 'created_at', 'user_id', 'request_id', 'address', 'action', 'resource', 'resource_id'],
        ...['version_before', 'version_after', 'before', 'after', 'concealed', 'details'],
      ],
      sortable: AuditEvent,
      statuses: [],
      fill: (own, _others, lines) => each(lines, ({ text }) => own.auditEvent({ details: { text } })),
    },
  ],
};
