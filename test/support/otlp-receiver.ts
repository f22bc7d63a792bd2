import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '../../src/platform/testing';

export interface ReceivedSpan {
  trace: string;
  id: string;
  parent: string;
  name: string;
  /** 2 is a server's, 3 a client's. */
  kind: number;
  attributes: Record<string, string | number | boolean>;
  /** 2 is an error. */
  status: number;
  resource: Record<string, string | number | boolean>;
}

/** A receiver of traces by OTLP over HTTP, in protobuf. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpReceiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new OtlpReceiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/v1/traces') receiver.spans.push(...spansIn(Buffer.concat(chunks)));
        response.setHeader('Content-Type', 'application/x-protobuf').end();
      });
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  of(trace: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.trace === trace);
  }

  /** The spans of a trace, once that of its request is there, which ends last. */
  async complete(trace: string): Promise<ReceivedSpan[]> {
    await waitFor(() => this.of(trace).some(({ kind }) => kind === 2));
    return this.of(trace);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

type Value = Buffer | bigint;
type Message = Map<number, Value[]>;

/** ExportTraceServiceRequest of opentelemetry/proto/collector/trace/v1. */
function spansIn(bytes: Buffer): ReceivedSpan[] {
  return messages(parse(bytes), 1).flatMap((ofResource) => {
    const resource = Object.fromEntries(messages(ofResource, 1).flatMap((one) => messages(one, 1).map(attributeOf)));
    return messages(ofResource, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => ({ ...spanOf(span), resource })),
    );
  });
}

function spanOf(span: Message): Omit<ReceivedSpan, 'resource'> {
  const hex = (field: number) => ((span.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0)).toString('hex');
  const [status] = messages(span, 15);
  return {
    trace: hex(1),
    id: hex(2),
    parent: hex(4),
    name: String(span.get(5)?.[0] ?? ''),
    kind: Number(span.get(6)?.[0] ?? 0),
    attributes: Object.fromEntries(messages(span, 9).map(attributeOf)),
    status: Number(status?.get(3)?.[0] ?? 0),
  };
}

function attributeOf(pair: Message): [string, string | number | boolean] {
  const [value] = messages(pair, 2);
  const text = value.get(1)?.[0];
  const number = value.get(3)?.[0] ?? value.get(2)?.[0];
  return [String(pair.get(1)![0]), text === undefined ? Number(number) : text.toString()];
}

const messages = (message: Message, field: number): Message[] =>
  (message.get(field) ?? []).map((bytes) => parse(bytes as Buffer));

/** The wire format of protobuf. */
function parse(bytes: Buffer): Message {
  const message: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const taken = (length: number): Buffer => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const key = Number(varint());
    const type = key & 7;
    const value = type === 0 ? varint() : taken(type === 1 ? 8 : type === 5 ? 4 : Number(varint()));
    message.set(key >> 3, [...(message.get(key >> 3) ?? []), value]);
  }
  return message;
}
