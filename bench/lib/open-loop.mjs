// Sends requests at a fixed rate, whether or not the server keeps up. The latency of a request counts from the moment
// when it was due, also if it had to wait for a connection: a server that stands still would seem to have few slow
// requests otherwise. Takes its task from the environment, and prints what came of it as JSON.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { Filler } from './markers.mjs';

const { HOST, PORT, REQUESTS, FIRST_NUMBER } = process.env;
const [RATE, SECONDS, CONNECTIONS] = ['RATE', 'SECONDS', 'CONNECTIONS'].map((name) => Number(process.env[name]));
const END_OF_HEAD = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';
/** How long requests that were due may wait for their answers after the end, in milliseconds. */
const PATIENCE = 10_000;

/** One request at a time. */
class Connection {
  due = 0;
  sent = 0;
  received = [];

  constructor(load) {
    this.load = load;
    this.open();
  }

  open() {
    this.isOpen = false;
    this.socket = connect({ host: HOST, port: Number(PORT), noDelay: true });
    this.socket.on('connect', () => {
      this.isOpen = true;
      this.load.free(this);
    });
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => this.closed());
  }

  send(text, due) {
    this.due = due;
    this.isBusy = true;
    this.socket.write(text, 'latin1');
  }

  read(chunk) {
    this.received.push(chunk);
    const all = this.received.length === 1 ? chunk : Buffer.concat(this.received);
    const end = all.indexOf(END_OF_HEAD);
    if (end < 0) return;
    const head = all.latin1Slice(0, end);
    if (!isComplete(head, all, end + END_OF_HEAD.length)) return;
    this.received = [];
    this.isBusy = false;
    this.load.answered(this.due, Number(head.slice(9, 12)));
    // Otherwise the server closes it.
    if (!/\r\nconnection: close/i.test(head)) this.load.free(this);
  }

  closed() {
    if (this.isBusy) this.load.failed();
    this.load.lost(this);
    this.isBusy = false;
    this.received = [];
    if (!this.load.isOver) this.open();
  }
}

function isComplete(head, all, start) {
  const length = /\r\ncontent-length: (\d+)/i.exec(head);
  if (length) return all.length >= start + Number(length[1]);
  return !/\r\ntransfer-encoding: chunked/i.test(head) || all.latin1Slice(-LAST_CHUNK.length) === LAST_CHUNK;
}

class Load {
  requests = readFileSync(REQUESTS, 'latin1').split('\0').slice(0, -1);
  filler = new Filler(Number(FIRST_NUMBER));
  idle = [];
  total = Math.floor(RATE * SECONDS);
  latencies = new Float64Array(this.total);
  /** How late requests were sent although a connection was free: that is this process, and not the server. */
  lateness = new Float64Array(this.total);
  sent = 0;
  answers = 0;
  refused = 0;
  failures = 0;
  late = 0;
  isOver = false;

  async run() {
    this.connections = Array.from({ length: CONNECTIONS }, () => new Connection(this));
    while (this.idle.length < CONNECTIONS) await tick();
    this.start = performance.now();
    const deadline = this.start + SECONDS * 1_000 + PATIENCE;
    while (this.answers + this.failures < this.total && performance.now() < deadline) {
      await tick();
      this.pump();
    }
    this.isOver = true;
    for (const { socket } of this.connections) socket.destroy();
    return this.result();
  }

  /** Sends what is due. */
  pump() {
    if (this.start === undefined) return;
    const now = performance.now();
    const due = Math.min(this.total, Math.floor(((now - this.start) * RATE) / 1_000) + 1);
    while (this.sent < due && this.idle.length > 0) {
      const place = this.sent++;
      const time = this.start + (place * 1_000) / RATE;
      if (this.wereFree) this.lateness[this.late++] = now - time;
      const turn = Math.floor(place / this.requests.length);
      this.idle.pop().send(this.filler.fill(this.requests[place % this.requests.length], turn), time);
    }
    this.wereFree = this.idle.length > 0;
  }

  free(connection) {
    this.idle.push(connection);
    this.pump();
  }

  lost(connection) {
    this.idle = this.idle.filter((one) => one !== connection);
  }

  answered(due, status) {
    this.latencies[this.answers++] = performance.now() - due;
    if (status >= 400) this.refused++;
  }

  failed() {
    this.failures++;
  }

  result() {
    const { answers, refused, failures, total } = this;
    const latency = percentilesOf(this.latencies.subarray(0, answers));
    const { p99 } = percentilesOf(this.lateness.subarray(0, this.late));
    return {
      requests: answers,
      rate: RATE,
      refused,
      failures,
      unanswered: total - answers - failures,
      late: p99,
      ...latency,
    };
  }
}

function percentilesOf(values) {
  values.sort();
  const at = (share) => values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}

/** A millisecond, the shortest time that Node waits. */
function tick() {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

process.stdout.write(JSON.stringify(await new Load().run()));
