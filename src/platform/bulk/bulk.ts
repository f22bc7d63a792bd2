import type { DataSource } from 'typeorm';
import { inOneTransaction } from '../database/api-data-source';
import { type ApiError, MAX_VIOLATIONS } from '../errors/api-error';
import { allTaken } from '../errors/database-errors';
import { toApiError } from '../errors/to-api-error';
import { MultiStatus } from '../answers/multi-status';
import { isRefusedWrite } from '../rows/refused-writes';
import { inSavepoint } from '../transactions/in-savepoint';
import { transactionOf, UnitOfWork } from '../transactions/unit-of-work';
import { allOf, created, refused, type Result } from './results';

/** Creates the resources of some inputs, in their order. */
export type Create = (inputs: object[]) => Promise<object[]>;

/** The errors of an input. Others, such as a lost right or a lost connection, concern the whole request. */
const OF_AN_INPUT = [400, 404, 409, 422];

/** The validated inputs of a list, and the errors of the others. Both have the positions of the list. */
export interface Inputs {
  valid: Map<number, object>;
  failures: Map<number, ApiError>;
}

export interface BulkOptions {
  database: DataSource;
  /** True if each input gets a result of its own. Otherwise all resources are created, or none. */
  isLenient: boolean;
}

/** A request with a list of inputs. Its resources are created in one transaction. */
export class Bulk {
  constructor(private readonly options: BulkOptions) {}

  get isLenient(): boolean {
    return this.options.isLenient;
  }

  /**
   * @returns the resources, or the results if the request is lenient
   * @throws {ApiError} with the errors of all inputs, if the request isn't lenient
   */
  run(inputs: Inputs, create: Create): Promise<object[] | MultiStatus> {
    const { database } = this.options;
    const work = () => this.createAll(inputs, create);
    // A request with an Idempotency-Key is in a transaction already.
    return transactionOf(database) ? work() : inOneTransaction(database, (_client, sharing) => sharing(work));
  }

  /** Tries all inputs together, which is fast. If that fails, one after the other, which tells the ones that fail. */
  private async createAll({ valid, failures }: Inputs, create: Create): Promise<object[] | MultiStatus> {
    const all = valid.size > 0 ? await this.attempt(() => create([...valid.values()])) : [];
    if (Array.isArray(all)) return this.isLenient ? resultsOf([...valid.keys()], all, failures) : all;
    const resources = await this.createEach(valid, failures, create);
    if (this.isLenient) return resultsOf([...resources.keys()], [...resources.values()], failures);
    throw failures.size > 0 ? allOf(failures) : all;
  }

  /** @param failures gets the errors */
  private async createEach(
    valid: Inputs['valid'],
    failures: Inputs['failures'],
    create: Create,
  ): Promise<Map<number, object>> {
    const resources = new Map<number, object>();
    for (const [position, input] of valid) {
      const one = await this.attempt(() => create([input]), allOfRefusal);
      if (Array.isArray(one)) resources.set(position, one[0]);
      else failures.set(position, one);
      if (!this.isLenient && failures.size >= MAX_VIOLATIONS) break;
    }
    return resources;
  }

  /**
   * Runs the work in a savepoint. Returns an error of an input.
   * @param told what the caller gets to know of it, once the savepoint is undone
   */
  private async attempt(
    work: () => Promise<object[]>,
    told: (thrown: unknown) => ApiError | Promise<ApiError> = toApiError,
  ): Promise<object[] | ApiError> {
    try {
      return await inSavepoint(transactionOf(this.options.database)!, work);
    } catch (thrown) {
      const error = await told(thrown);
      if (UnitOfWork.current()?.isOver || !OF_AN_INPUT.includes(error.status)) throw thrown;
      return error;
    }
  }
}

/** A conflict names all that is taken, as for an input that came alone (D-240). */
function allOfRefusal(thrown: unknown): ApiError | Promise<ApiError> {
  return isRefusedWrite(thrown) ? allTaken(thrown) : toApiError(thrown);
}

function resultsOf(positions: number[], resources: object[], failures: Inputs['failures']): MultiStatus {
  const results: Result[] = [];
  for (const [index, position] of positions.entries()) results[position] = created(resources[index]);
  for (const [position, error] of failures) results[position] = refused(error);
  return new MultiStatus(results);
}
