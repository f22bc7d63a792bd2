import type { ChangeOptions, CreateOptions, EachResult, WriteOptions } from './collection.js';
import type { Answer, BodyOf, CallOptions, DataOf, FieldOf, OperationAt, QueryOf, WithoutFields } from './paths.js';

type Id = string | number;
type Options = Pick<CallOptions, 'signal' | 'timeout' | 'headers'>;

/** The items that a list shows. */
export type ItemOf<Operation> = DataOf<Operation> extends readonly (infer Item)[] ? Item : never;
/** What `fields` leaves of an item. It doesn't choose among the rows that `include` adds. */
type Picked<Item, Field, Query> = Pick<Item, Extract<keyof Item, Field> | Exclude<keyof Item, FieldOf<Query>>>;
type WithFields<Query, Field> = Omit<Query, 'fields'> & { fields: readonly Field[] };

export interface Listing<Operation, Query = QueryOf<Operation>, Item = ItemOf<Operation>> {
  /** Reads a page. */
  list<const Field extends FieldOf<Query>>(
    query: WithFields<Query, Field>,
    options?: Options,
  ): Promise<Omit<Answer<Operation>, 'data'> & { data: Picked<Item, Field, Query>[] }>;
  list(query?: WithoutFields<Query>, options?: Options): Promise<Answer<Operation>>;
  /** The items of all pages: each page is read when the loop comes to it, and `break` ends the reading. */
  all<const Field extends FieldOf<Query>>(
    query: WithFields<Query, Field>,
    options?: Options,
  ): AsyncGenerator<Picked<Item, Field, Query>, void>;
  all(query?: WithoutFields<Query>, options?: Options): AsyncGenerator<Item, void>;
}

export interface Reading<Operation, Query = QueryOf<Operation>, Item = DataOf<Operation>> {
  /** Reads one item. */
  get<const Field extends FieldOf<Query>>(
    id: Id,
    query: WithFields<Query, Field>,
    options?: Options,
  ): Promise<Picked<Item, Field, Query>>;
  get(id: Id, query?: WithoutFields<Query>, options?: Options): Promise<Item>;
}

export interface Creating<Operation> {
  /** Creates an item, once also if the request has to be sent again. */
  create(body: BodyOf<Operation>, options?: CreateOptions): Promise<DataOf<Operation>>;
}

/** For a collection whose POST takes a list of inputs. */
export interface CreatingMany<Operation> {
  /** Creates all items, at most 1,000, or none. Results are in the order of the inputs, and fields of errors have their positions. */
  createAll(inputs: readonly BodyOf<Operation>[], options?: CreateOptions): Promise<DataOf<Operation>[]>;
  /** Creates the items that can be created, of at most 1,000. Results are in the order of the inputs. */
  createEach(inputs: readonly BodyOf<Operation>[], options?: CreateOptions): Promise<EachResult<DataOf<Operation>>[]>;
}

export interface Replacing<Operation> {
  /** Replaces all attributes of an item. */
  replace(id: Id, body: BodyOf<Operation>, options?: WriteOptions): Promise<DataOf<Operation>>;
}

export interface Updating<Operation, Read> {
  /** Changes the named attributes of an item. */
  update(id: Id, body: BodyOf<Operation>, options?: WriteOptions): Promise<DataOf<Operation>>;
  /**
   * Reads an item, and writes what `change` makes of it, unless somebody else has changed it meanwhile: then again. If it is
   * unknown whether a write was carried out, and the item looks as if it was not, the error is 412 and `uncertain`.
   * @param change returns the attributes to change; none change nothing
   */
  change(
    id: Id,
    change: (item: Read) => BodyOf<Operation> | Promise<BodyOf<Operation>>,
    options?: ChangeOptions,
  ): Promise<DataOf<Operation>>;
}

export interface Removing {
  remove(id: Id, options?: WriteOptions): Promise<void>;
}

/** Nothing, where the documents have no such operation. */
type If<Operation, Calls> = [Operation] extends [never] ? unknown : Calls;

/** The calls that the documents have of a collection. */
export type Collection<Paths, List, One, Many> = If<
  OperationAt<Paths, List, 'GET'>,
  Listing<OperationAt<Paths, List, 'GET'>>
> &
  If<OperationAt<Paths, List, 'POST'>, Creating<OperationAt<Paths, List, 'POST'>>> &
  (Many extends true ? CreatingMany<OperationAt<Paths, List, 'POST'>> : unknown) &
  If<OperationAt<Paths, One, 'GET'>, Reading<OperationAt<Paths, One, 'GET'>>> &
  If<OperationAt<Paths, One, 'PUT'>, Replacing<OperationAt<Paths, One, 'PUT'>>> &
  If<
    OperationAt<Paths, One, 'PATCH'>,
    Updating<OperationAt<Paths, One, 'PATCH'>, DataOf<OperationAt<Paths, One, 'GET'>>>
  > &
  If<OperationAt<Paths, One, 'DELETE'>, Removing>;
