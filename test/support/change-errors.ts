import type { Answer, Client } from '../../src/platform/testing';

/** Nothing is sent there: no name server is asked for this name. */
export const aWebhook = { url: 'https://hooks.localhost', types: ['products'] };

interface Callers {
  user: Client;
  admin: Client;
  provoke: (name: string, sent: Promise<Answer>) => Promise<void>;
}

/** The errors of the feed of changes and of webhooks that a document names. */
export async function provokeErrorsOfChanges({ user, admin, provoke }: Callers): Promise<void> {
  await provoke('GET /api/v1/changes', user.get('/changes?cursor=0-0'));
  const paused = await admin.post('/webhooks', { ...aWebhook, status: 'PAUSED' });
  const path = `/webhooks/${paused.body.data.id}/deliveries`;
  await provoke('POST /api/v1/webhooks/{id}/deliveries', admin.post(path, { change: 'TEST' }));
}
