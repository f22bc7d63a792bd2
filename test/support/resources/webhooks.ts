import { Delivery } from '../../../src/resources/webhooks/delivery.entity';
import { CreateWebhookDto } from '../../../src/resources/webhooks/webhook.dto';
import { Webhook } from '../../../src/resources/webhooks/webhook.entity';
import { type Fixtures, insert, type Row } from '../fixtures';
import { on, plain, type Prepare } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { oneOf, text, type Values } from '../values';

/** A name that no name server is asked for, and whose address is closed: nothing is ever sent there. */
const URL = 'https://hooks.localhost/shop';
const STATUSES = ['ACTIVE', 'PAUSED', 'DISABLED'];
const OF_DELIVERIES = ['PENDING', 'DELIVERED', 'FAILED'];
const aWebhook = () => ({ url: URL, types: ['products'] });
const webhook = (own: Fixtures, attributes: object = {}): Promise<Row> =>
  own.insert('webhooks', { ...aWebhook(), secret: Buffer.alloc(60), ...attributes });
const deliveryOf = ({ id }: Row, own: Fixtures, attributes: object = {}): Promise<Row> =>
  insert(own.api, 'webhook_deliveries', {
    ...{ webhook_id: id, type: 'products', resource_id: 1, change: 'CREATED', resource_version: 1 },
    ...{ changed_at: '2020-01-01', status: 'DELIVERED', ...attributes },
  });
const onDelivery =
  (body?: object): Prepare =>
  async (own) => {
    const parent = await webhook(own);
    return { ids: [parent.id, (await deliveryOf(parent, own)).id], body };
  };

const url: Values = {
  taken: [
    [URL, URL],
    [' HTTPS://Hooks.localhost:8443/a?b=c ', 'https://hooks.localhost:8443/a?b=c'],
  ],
  refused: [
    ...['', 'hooks', 'ftp://hooks.localhost/', 'https://a:b@hooks.localhost/'].map((one): [unknown, string] => [
      one,
      'url',
    ]),
    ...['https://10.0.0.1/', 'https://[::1]/', 'https://hooks.localhost:22/', 'https://hooks.localhost/#a'].map(
      (one): [unknown, string] => [one, 'target'],
    ),
    ...[1, true, {}, null].map((one): [unknown, string] => [one, 'type']),
  ],
};
const types: Values = {
  taken: [['products'], ['products', 'orders']].map((one) => [one, one]),
  refused: [
    [[], 'length'],
    [['products', 'products'], 'unique'],
    [['Products'], 'pattern'],
    [['sessions'], 'enum'],
    ...['products', null, [1], {}].map((one): [unknown, string] => [one, 'type']),
  ],
};

export const webhooks: Resource = {
  noun: 'webhooks',
  requests: {
    'GET /api/v1/webhooks': plain,
    'GET /api/v1/webhooks/:id': on(webhook),
    'POST /api/v1/webhooks': () => ({ body: aWebhook() }),
    'PUT /api/v1/webhooks/:id': on(webhook, aWebhook()),
    'PATCH /api/v1/webhooks/:id': on(webhook, { description: 'Another' }),
    'DELETE /api/v1/webhooks/:id': on(webhook),
    'POST /api/v1/webhooks/:id/secrets': on(webhook, { overlap: 60 }),
    'GET /api/v1/webhooks/:id/deliveries': on(webhook),
    'POST /api/v1/webhooks/:id/deliveries': on(webhook, { change: 'TEST' }),
    'GET /api/v1/webhooks/:id/deliveries/:deliveryId': onDelivery(),
    'POST /api/v1/webhooks/:id/deliveries/:deliveryId/attempts': onDelivery({ delay: 0 }),
  },
  access: `
  GET    /api/v1/webhooks                                         401    403    403    200        401      401
  GET    /api/v1/webhooks/:id                                     401    403    403    200        401      401
  POST   /api/v1/webhooks                                         401    403    403    201        401      401
  PUT    /api/v1/webhooks/:id                                     401    403    403    200        401      401
  PATCH  /api/v1/webhooks/:id                                     401    403    403    200        401      401
  DELETE /api/v1/webhooks/:id                                     401    403    403    204        401      401
  POST   /api/v1/webhooks/:id/secrets                             401    403    403    201        401      401
  GET    /api/v1/webhooks/:id/deliveries                          401    403    403    200        401      401
  POST   /api/v1/webhooks/:id/deliveries                          401    403    403    201        401      401
  GET    /api/v1/webhooks/:id/deliveries/:deliveryId              401    403    403    200        401      401
  POST   /api/v1/webhooks/:id/deliveries/:deliveryId/attempts     401    403    403    201        401      401
`,
  writable: {
    input: CreateWebhookDto,
    attributes: {
      url,
      types,
      description: text({ max: 500, nullable: true }),
      status: oneOf('ACTIVE', 'PAUSED'),
    },
    required: ['url', 'types'],
    replaceable: true,
    least: aWebhook,
    once: ['secret'],
  },
  collections: [
    {
      name: '/webhooks',
      attributes: [...common, 'url', 'types', 'description', 'status'],
      sortable: Webhook,
      statuses: STATUSES,
      fill: (own, _others, lines) =>
        each(lines, ({ text: description, index, dates }) =>
          webhook(own, { description, status: STATUSES[index % 3], ...dates }),
        ),
    },
    {
      name: '/webhooks/{id}/deliveries',
      attributes: [
        ...common,
        ...['webhook_id', 'type', 'resource_id', 'change', 'resource_version', 'changed_at', 'status'],
        ...['attempts', 'attempted_at', 'response_status', 'failure', 'next_attempt_at'],
      ],
      sortable: Delivery,
      statuses: OF_DELIVERIES,
      async fill(own, _others, lines) {
        const [here, elsewhere] = [await webhook(own), await webhook(own)];
        await each(lines, async ({ index, dates }) => {
          const attributes = { resource_id: index + 1, status: OF_DELIVERIES[index % 3], ...dates };
          await deliveryOf(here, own, attributes);
          await deliveryOf(elsewhere, own, attributes);
        });
        return { path: `/webhooks/${here.id}/deliveries`, where: `webhook_id = ${here.id}` };
      },
    },
  ],
};
