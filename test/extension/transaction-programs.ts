import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { DataSource, EntityManager } from 'typeorm';

export interface Write {
  kind: 'write';
  name: string;
  /** By a manager that isn't that of the transaction around it, but the data source's. */
  byStranger: boolean;
}

export interface Transaction {
  kind: 'transaction';
  id: string;
  /** By the callback of transaction(), or step by step by a query runner of its own. */
  style: 'callback' | 'runner';
  /** A savepoint of the transaction around it, where there is one; else one of its own. */
  nested: boolean;
  body: Step[];
  fails: boolean;
}

export interface Parallel {
  kind: 'parallel';
  branches: Step[][];
}

/** A statement that the database refuses; its error is caught. */
export interface Broken {
  kind: 'broken';
}

export interface Pause {
  kind: 'pause';
  ms: number;
}

export type Step = Write | Transaction | Parallel | Broken | Pause;

export interface Program {
  awaited: Step[];
  /** What the handler starts and doesn't await. */
  floating: Step[][];
  /** What begins once the request has been answered. */
  late: Step[][];
  fails: boolean;
}

/** The number of steps that are inside of each other. */
const MAX_DEPTH = 8;

const pause = fc.record({ kind: fc.constant('pause' as const), ms: fc.integer({ min: 0, max: 4 }) });
const broken = fc.constant<Broken>({ kind: 'broken' });
const write = fc.record({ kind: fc.constant('write' as const), name: fc.constant(''), byStranger: fc.boolean() });
const { steps } = fc.letrec<{ step: Step; steps: Step[]; transaction: Transaction; parallel: Parallel }>((tie) => ({
  step: fc.oneof(
    { maxDepth: MAX_DEPTH, withCrossShrink: true },
    write,
    pause,
    broken,
    { arbitrary: tie('transaction'), weight: 4 },
    { arbitrary: tie('parallel'), weight: 2 },
  ),
  steps: fc.array(tie('step'), { minLength: 1, maxLength: 3 }),
  transaction: fc.record({
    kind: fc.constant('transaction' as const),
    id: fc.constant(''),
    style: fc.constantFrom('callback' as const, 'runner' as const),
    nested: fc.boolean(),
    body: tie('steps'),
    fails: fc.boolean(),
  }),
  parallel: fc.record({
    kind: fc.constant('parallel' as const),
    branches: fc.array(tie('steps'), { minLength: 2, maxLength: 3 }),
  }),
}));

/** The number of steps of a program: small programs are the ones that go wrong. */
const MAX_STEPS = 40;

/** The number of connections that a program without a key takes at once. With more it could wait for itself. */
export const MAX_CONNECTIONS = 12;

export const programs = fc
  .record({
    awaited: steps,
    floating: fc.array(steps, { maxLength: 2 }),
    late: fc.array(steps, { maxLength: 2 }),
    fails: fc.boolean(),
  })
  .map(named)
  .filter(({ awaited, floating, late }) => {
    const all = [awaited, ...floating, ...late];
    return sum(all.map(size)) <= MAX_STEPS && sum(all.map(connections)) <= MAX_CONNECTIONS;
  });

function size(steps: Step[]): number {
  const sizes = steps.map((step) => {
    if (step.kind === 'parallel') return sum(step.branches.map(size));
    return step.kind === 'transaction' ? size(step.body) : 0;
  });
  return steps.length + sum(sizes);
}

function connections(steps: Step[]): number {
  const counts = steps.map((step) => {
    if (step.kind === 'parallel') return sum(step.branches.map(connections));
    if (step.kind === 'transaction') return connections(step.body) + (step.nested ? 0 : 1);
    return 1;
  });
  return Math.max(0, ...counts);
}

const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0);

let names = 0;

/** Gives each step a name that no other program has. */
function named(program: Program): Program {
  const nameAll = (list: Step[], inTransaction: boolean, inParallel: boolean): Step[] =>
    list.map((step) => {
      if (step.kind === 'write') return { ...step, name: `w${++names}`, byStranger: step.byStranger && inTransaction };
      if (step.kind === 'parallel') {
        return { ...step, branches: step.branches.map((branch) => nameAll(branch, inTransaction, inTransaction)) };
      }
      if (step.kind !== 'transaction') return step;
      // TypeORM can't nest two transactions of one manager beside each other.
      const nested = step.nested && inTransaction && !inParallel;
      return { ...step, id: `t${++names}`, nested, body: nameAll(step.body, true, false) };
    });
  const top = (list: Step[]) => nameAll(list, false, false);
  return {
    ...program,
    awaited: top(program.awaited),
    floating: program.floating.map(top),
    late: program.late.map(top),
  };
}

/** What a transaction saw of the table at its end. */
export interface Sight {
  /** The transactions around the one that looked, and itself. */
  path: string[];
  names: Set<string>;
}

class Failure extends Error {}

/** Runs steps as a handler would. */
export class Runner {
  readonly sights: Sight[] = [];

  constructor(private readonly database: DataSource) {}

  async run(steps: Step[], manager: EntityManager = this.database.manager, path: string[] = []): Promise<void> {
    for (const step of steps) await this.step(step, manager, path);
  }

  private async step(step: Step, manager: EntityManager, path: string[]): Promise<void> {
    if (step.kind === 'pause') return void (await sleep(step.ms));
    if (step.kind === 'broken') return this.database.query('SELECT 1 / 0').catch(() => undefined);
    if (step.kind === 'write') {
      const writer = step.byStranger ? this.database.manager : manager;
      return void (await writer.query('INSERT INTO marks (name) VALUES ($1)', [step.name]));
    }
    if (step.kind === 'parallel') {
      return void (await Promise.all(step.branches.map((branch) => this.run(branch, manager, path))));
    }
    await this.transaction(step, manager, path).catch((error) => {
      if (!(error instanceof Failure)) throw error;
    });
  }

  private async transaction(step: Transaction, outer: EntityManager, path: string[]): Promise<void> {
    const within = async (manager: EntityManager) => {
      const inside = [...path, step.id];
      await this.run(step.body, manager, inside);
      const rows = await manager.query<{ name: string }[]>('SELECT name FROM marks');
      this.sights.push({ path: inside, names: new Set(rows.map(({ name }) => name)) });
      if (step.fails) throw new Failure();
    };
    if (step.nested) return outer.transaction(within);
    if (step.style === 'callback') return this.database.transaction(within);
    const runner = this.database.createQueryRunner();
    await runner.connect();
    await runner.startTransaction();
    try {
      await within(runner.manager);
      await runner.commitTransaction();
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
      expect([runner.isReleased, runner.isTransactionActive]).toEqual([true, false]);
    }
  }
}

/** What a part of a program leaves to what is around it. */
interface Rest {
  /** The names that are kept with it. */
  written: string[];
  /** Whether anything was written that believes to stand for itself. */
  strange: boolean;
}

/** What TypeORM says ought to become of steps. */
export class Model {
  readonly kept = new Set<string>();
  /** The transaction by whose failure each name was undone. */
  readonly undone = new Map<string, string>();
  /** The names of each transaction that was committed, with those of the ones nested in it. */
  readonly whole = new Map<string, string[]>();
  /** Whether that can't be in one transaction: what stands for itself was written inside of one that failed. */
  isTooMuchForOne = false;

  constructor(steps: Step[]) {
    this.keep(this.run(steps));
  }

  private run(steps: Step[]): Rest {
    const parts = steps.map((step) => this.step(step));
    return { written: parts.flatMap(({ written }) => written), strange: parts.some(({ strange }) => strange) };
  }

  private step(step: Step): Rest {
    if (step.kind === 'parallel') return this.run(step.branches.flat());
    if (step.kind === 'transaction') return this.transaction(step);
    const rest = { written: step.kind === 'write' ? [step.name] : [], strange: false };
    return step.kind === 'write' && step.byStranger ? this.keep(rest) : rest;
  }

  private transaction({ id, body, fails, nested }: Transaction): Rest {
    const rest = this.run(body);
    if (!fails) {
      this.whole.set(id, rest.written);
      return nested ? rest : this.keep(rest);
    }
    for (const name of rest.written) this.undone.set(name, id);
    this.isTooMuchForOne ||= rest.strange;
    return { written: [], strange: false };
  }

  private keep({ written, strange }: Rest): Rest {
    for (const name of written) this.kept.add(name);
    return { written: [], strange: strange || written.length > 0 };
  }
}
