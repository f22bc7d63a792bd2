import { execFile } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { OtlpReceiver } from '../support/otlp-receiver';
import { PLACES } from '../support/tested-places';
import { useReceiver } from '../support/webhook-receiver';

/**
 * Sends twice within a request that is traced: by Node itself, as to any other service, and as to the receiver of a webhook. It
 * runs on its own, because the instrumentation replaces functions of Node.
 */
const PROGRAM = `
const { EventEmitter } = require('node:events');
const [, built, url] = process.argv;
const { traces } = require(built + '/platform/traces/begin');
const { Networks } = require(built + '/resources/webhooks/sending/networks');
const { NameServer } = require(built + '/resources/webhooks/sending/name-server');
const { send } = require(built + '/resources/webhooks/sending/send');
const { ROOT_CONTEXT, trace } = require('@opentelemetry/api');
const { request } = require('node:http');

const span = trace.getTracer('test').startSpan('a request');
const response = Object.assign(new EventEmitter(), { closed: false });
traces.follow({ traceContext: trace.setSpan(ROOT_CONTEXT, span) }, response, async () => {
  const headers = { name: 'plain' };
  await new Promise((done) => request(url, { method: 'POST', headers }, (answer) => answer.resume().on('end', done)).end('{}'));
  const options = { rules: { networks: new Networks('127.0.0.0/8'), plain: true }, names: new NameServer(), patience: 10_000 };
  const outcome = await send({ url, headers: { name: 'delivery' }, body: '{}' }, options);
  span.end();
  response.emit('close');
  await traces.end();
  process.stdout.write(JSON.stringify(outcome));
});
`;

describe('The trace of a request', () => {
  const receiver = useReceiver();
  let collector: OtlpReceiver;

  beforeAll(async () => (collector = await OtlpReceiver.start()));
  afterAll(() => collector.stop());

  it('is not told to the receiver of a webhook, and knows nothing of the delivery', async () => {
    const environment = { PATH: process.env.PATH, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const program = ['-e', PROGRAM, resolve(dirname(PLACES.program)), receiver.current.url];
    const { stdout } = await promisify(execFile)(process.execPath, program, { env: environment });
    expect(JSON.parse(stdout)).toEqual({ status: 204, failure: null });

    const [plain, delivery] = receiver.current.received.map(({ headers }) => headers);
    const [request] = collector.spans.filter(({ name }) => name === 'a request');
    expect([plain.name, plain.traceparent]).toEqual(['plain', expect.stringContaining(request.trace)]);
    expect(delivery.name).toBe('delivery');
    expect(Object.keys(delivery).filter((name) => /^trace|baggage/.test(name))).toEqual([]);
    expect(collector.spans.map(({ name }) => name).sort()).toEqual(['POST', 'a request']);
  });
});
