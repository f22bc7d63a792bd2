import { median } from './statistics.mjs';

/** What was measured, by work, server and round. */
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

  /** Bytes, right after a load: the most of them counts. */
  addMemory(server, bytes = 0) {
    this.memory[server] = Math.max(bytes, this.memory[server] ?? 0) || undefined;
  }

  note(text) {
    this.notes.push(text);
  }

  /** Requests a second, milliseconds and the like: the median of the rounds, or undefined. */
  figure(work, server, name) {
    return median((this.rounds[work]?.[server] ?? []).map((measurement) => measurement?.[name]));
  }

  /** The median of the ratios of each round: what slows the machine down for a while slows both. */
  ratio(of, to) {
    const others = this.rounds[to.work]?.[to.server] ?? [];
    const own = this.rounds[of.work]?.[of.server] ?? [];
    return median(
      own.map((measurement, round) => others[round] && measurement && measurement.rate / others[round].rate),
    );
  }

  /** Seconds. */
  startUp(server) {
    return median(this.startUps[server] ?? []);
  }
}
