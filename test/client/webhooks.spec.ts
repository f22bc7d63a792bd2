import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { builtClient } from '../support/client';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** The other end is the library of Standard Webhooks. */
describe('verifyWebhook() of the client', () => {
  const { verifyWebhook } = builtClient();
  const [secret, other] = [newSecret(), newSecret()];
  const body = JSON.stringify({ type: 'products.updated', data: { name: 'Käse 🧀' } });
  const signed = (by: string, { at = new Date(), id = 'delivery_1' } = {}) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, body),
  });

  it('returns what was signed, from a text or bytes, and any kind of headers', async () => {
    const headers = signed(secret);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const one of [headers, upper, new Headers(headers)]) {
      for (const sent of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
        expect(await verifyWebhook({ headers: one, body: sent }, secret)).toEqual(JSON.parse(body));
      }
    }
  });

  it('takes any of several secrets, and any of several signatures', async () => {
    const headers = signed(other);
    expect(await verifyWebhook({ headers, body }, [secret, other])).toEqual(JSON.parse(body));
    const both = [signed(secret), headers].map((one) => one['webhook-signature']).join(' ');
    const rotated = { ...headers, 'webhook-signature': `v2,AAAA ${both}` };
    for (const one of [secret, other]) {
      expect(await verifyWebhook({ headers: rotated, body }, one)).toEqual(JSON.parse(body));
    }
  });

  const refused = (headers: object, sent = body) =>
    verifyWebhook({ headers, body: sent }, secret).then(
      () => 'verified',
      ({ name, reason }: { name: string; reason: string }) => `${name} ${reason}`,
    );
  it.each([
    ['HEADERS', () => refused({})],
    ['HEADERS', () => refused({ ...signed(secret), 'webhook-id': undefined })],
    ['TIMESTAMP', () => refused(signed(secret, { at: new Date(Date.now() - 301_000) }))],
    ['TIMESTAMP', () => refused(signed(secret, { at: new Date(Date.now() + 302_000) }))],
    ['TIMESTAMP', () => refused({ ...signed(secret), 'webhook-timestamp': 'now' })],
    ['SIGNATURE', () => refused(signed(other))],
    ['SIGNATURE', () => refused(signed(secret), `${body} `)],
    ['SIGNATURE', () => refused({ ...signed(secret), 'webhook-id': 'delivery_2' })],
    ['SIGNATURE', () => refused({ ...signed(secret), 'webhook-signature': 'v1,' })],
    ['SIGNATURE', () => refused({ ...signed(secret), 'webhook-signature': 'v1,no Base64!' })],
    [
      'SIGNATURE',
      () => refused({ ...signed(secret), 'webhook-signature': signed(secret)['webhook-signature'].slice(3) }),
    ],
  ])('refuses anything else: %s', async (reason, result) => {
    expect(await result()).toBe(`WebhookVerificationError ${reason}`);
  });

  it('is for secrets alone', async () => {
    await expect(verifyWebhook({ headers: signed(secret), body }, '')).rejects.toThrow(TypeError);
    await expect(verifyWebhook({ headers: signed(secret), body }, 'whsec_?')).rejects.toThrow(TypeError);
  });

  it('takes a request of Node', async () => {
    const server = createServer((request, response) => {
      const { headers } = request;
      void text(request)
        .then((sent) => verifyWebhook({ headers, body: sent }, secret))
        .then((message) => response.end(JSON.stringify(message)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const answer = await fetch(url, { method: 'POST', headers: { ...signed(secret), connection: 'close' }, body });
    expect(await answer.text()).toBe(body);
    await new Promise((resolve) => server.close(resolve));
  });
});
