import { median } from './statistics.mjs';

/** The measurements, by work, server and round. */
export class Results {
  rounds = {};
  startUps = {};
  /** Bytes. */
  memory = {};
  notes = [];

  add(work, server, round, measurement) {
    const ofServer = ((this.rounds[work] ??= {})[server] ??= []);
    if (measurement.invalid === undefined) ofServer[round] = measurement;
    else this.notes.push(`${work} on ${server}, round ${round + 1}, is not counted: ${measurement.invalid}.`);
  }

  /** Bytes right after a load. The greatest value counts. */
  addMemory(server, bytes = 0) {
    this.memory[server] = Math.max(bytes, this.memory[server] ?? 0) || undefined;
  }

  note(text) {
    this.notes.push(text);
  }

  /** The median of the rounds, in the unit of the measurement, or undefined. */
  figure(work, server, name) {
    return median((this.rounds[work]?.[server] ?? []).map((measurement) => measurement?.[name]));
  }

  /** The median of the rounds' ratios: a temporary slowdown of the machine affects both servers. */
  ratio(of, to, name = 'rate') {
    const others = this.rounds[to.work]?.[to.server] ?? [];
    const own = this.rounds[of.work]?.[of.server] ?? [];
    return median(
      own.map((measurement, round) => others[round] && measurement && measurement[name] / others[round][name]),
    );
  }

  /** Seconds. */
  startUp(server) {
    return median(this.startUps[server] ?? []);
  }
}
