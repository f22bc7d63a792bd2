/** The methods that paths are called by. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An operation of the documents, by its path and method. */
export type OperationAt<Paths, Path, M extends Method> = Path extends keyof Paths
  ? Paths[Path] extends Record<Lowercase<M>, infer Operation>
    ? Operation
    : never
  : never;

/** The paths that have a method. */
export type PathsWith<Paths, M extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends Record<Lowercase<M>, object> ? Path : never;
}[keyof Paths];

/** The query, path and header parameters of an operation. */
export type ParametersOf<Operation> = Operation extends { parameters: infer Parameters }
  ? Omit<Parameters, 'cookie'>
  : Record<never, never>;
export type QueryOf<Operation> = ParametersOf<Operation> extends { query?: infer Query } ? NonNullable<Query> : never;

type JsonOf<Content> = Content extends { 'application/json': infer Json } ? Json : Content[keyof Content];
export type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } } ? JsonOf<Content> : never;

/** What every call may say besides its parameters and body. */
export interface CallOptions {
  /** Ends the call, also while it waits for another attempt. */
  signal?: AbortSignal;
  /** Milliseconds that an attempt may take. Default: that of the client */
  timeout?: number;
  /** Further headers. */
  headers?: Record<string, string>;
  /** Whether to send the request again when its answer is lost. Default: where that has no second effect */
  repeat?: boolean;
  /** Reads the body of a success as it is, e.g. of a download. Default: JSON and text are parsed */
  as?: 'blob' | 'stream';
}

type Optional<T> = Record<never, never> extends T ? true : false;
type WithParameters<Parameters> = Optional<Parameters> extends true ? { params?: Parameters } : { params: Parameters };
type WithBody<Operation> = Operation extends { requestBody: object }
  ? { body: BodyOf<Operation> }
  : Operation extends { requestBody?: { content: infer Content } }
    ? { body?: JsonOf<Content> }
    : { body?: never };

/** The attributes that `fields` may choose. */
export type FieldOf<Query> = Query extends { fields?: infer Fields }
  ? NonNullable<Fields> extends readonly (infer Field)[]
    ? Field
    : never
  : never;
export type WithoutFields<Query> = Omit<Query, 'fields'> & { fields?: undefined };
/** Parameters that don't choose attributes, so that the answer has all. */
export type WholeParametersOf<Operation, Parameters = ParametersOf<Operation>> = {
  [Name in keyof Parameters]: Name extends 'query' ? WithoutFields<NonNullable<Parameters[Name]>> : Parameters[Name];
};

/** What a call of an operation takes. */
export type Init<Operation, Parameters = ParametersOf<Operation>> = CallOptions &
  WithParameters<Parameters> &
  WithBody<Operation>;
export type InitArgument<Operation, Parameters = ParametersOf<Operation>> =
  Optional<Init<Operation, Parameters>> extends true
    ? [init?: Init<Operation, Parameters>]
    : [init: Init<Operation, Parameters>];

/** What an answer has besides its data. */
export interface AnswerFacts {
  headers: Headers;
  /** The entity tag: send it as `If-Match` to change exactly this version. */
  etag: string | undefined;
  requestId: string | undefined;
  /** Whether it is the stored answer to an earlier request with the same Idempotency-Key. */
  replayed: boolean;
}

type Envelope<Body> = Body extends { data: infer Data; pagination: infer Pagination }
  ? { data: Data; pagination: Pagination } & Omit<Body, 'code' | 'message' | 'data' | 'pagination' | 'timestamp'>
  : Body extends { data: infer Data }
    ? { data: Data } & Omit<Body, 'code' | 'message' | 'data' | 'timestamp'>
    : { data: Body };
type ContentOf<Response> = Response extends { content: infer Content }
  ? [keyof Content] extends [never]
    ? undefined
    : JsonOf<Content>
  : undefined;

/** The success of an operation: its status, what its envelope has, and its headers. */
export type Answer<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: { status: Status } & Envelope<ContentOf<Responses[Status]>> & AnswerFacts;
    }[keyof Responses]
  : never;
/** The data of a success. */
export type DataOf<Operation> = Answer<Operation> extends { data: infer Data } ? Data : never;

/** An answer with some attributes of what the operation shows. */
export type PartialAnswer<Operation> =
  Answer<Operation> extends { data: infer Data }
    ? Omit<Answer<Operation>, 'data'> & { data: Data extends readonly (infer Item)[] ? Partial<Item>[] : Partial<Data> }
    : never;
