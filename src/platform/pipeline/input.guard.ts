import { type CanActivate, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { accessOf } from '../auth/access.decorators';
import { Callers } from '../auth/callers';
import { PerRoute } from '../auth/per-route';
import { kindOf } from '../auth/request-of';
import { Settings } from '../config/settings';
import { type FieldViolation, validationError } from '../errors/api-error';
import { Bulk } from '../bulk/bulk';
import { expectInputs } from '../bulk/inputs';
import { applyLenient, prefersLenient } from '../bulk/prefer';
import type { Export } from '../exports/export';
import { IdempotencyKeys } from '../idempotency/idempotency-keys';
import { expectHandler, isKeyedPost, keyNotTaken } from '../idempotency/idempotent';
import { CursorSeal } from '../lists/cursor';
import { Embedding } from '../lists/embedding';
import { CONFIRM, CURSORS, EXPORT, KEYS, type ListQuery, PARAMETERS_OF, WORK } from '../lists/list-query';
import { attributesOf, parseFields } from '../input/fields';
import { includesOf, parseIncludes, type Relation } from '../input/includes';
import { notePolicy } from '../http/content-policy';
import { BodyReading } from './body-reading';
import { MULTIPART } from './media-types';
import { asPrimitive, primitiveMessage } from '../input/primitives';
import { type RouteInput, routeInput } from './route-input';
import { allow } from './time-limit.decorator';
import { WriteQuota } from './write-quota';
import { VERSIONS } from '../http/api-version';

const NONE: readonly Relation[] = [];

/**
 * Reads the input of a request. It is a guard, because it must run after the guards that answer 401 and 403, and before
 * the pipes that validate the input.
 */
@Injectable()
export class InputGuard implements CanActivate {
  private readonly inputs = new PerRoute(routeInput);
  private readonly bodies: BodyReading;
  private readonly told = new WeakSet<RouteInput>();
  private readonly logger = new Logger(InputGuard.name);

  constructor(
    settings: Settings,
    private readonly cursorSeal: CursorSeal,
    private readonly callers: Callers,
    private readonly keys: IdempotencyKeys,
    private readonly quota: WriteQuota,
    @InjectDataSource() private readonly database: DataSource,
  ) {
    this.bodies = new BodyReading(settings.JSON_BODY_LIMIT);
  }

  /** Returns no promise if there is nothing to wait for, so that Nest continues at once. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (kindOf(context) !== 'http') return true;
    const request = context.switchToHttp().getRequest<Request>();
    notePolicy(request.res!);
    const input = this.inputs.of(context);
    if (input.timeLimit !== undefined) allow(request, input.timeLimit);
    this.checkQuery(request, input, context);
    if (input.primitives.length > 0) checkPrimitives(request, input);
    if (isKeyedPost(request)) this.takeKey(context, request, input);
    if (input.pages) this.prepareList(request, context);
    const reads = this.bodies.isToRead(request, input);
    // The bytes of a stream have limits of their own, such as UPLOAD_QUOTA.
    const counts = (reads || !input.streams || request.method === 'POST') && this.quota.admits(request);
    if (reads) return this.takeBody(context, input, counts);
    // Another parser may have read the body before.
    const response = input.body?.inputs && context.switchToHttp().getResponse<Response>();
    const others = response ? this.expectInputs(request, input, response) : 0;
    if (counts) this.quota.count(request, input.streams ? 0 : Number(request.headers['content-length'] ?? 0), others);
    return true;
  }

  /** Adds to a list's query what it needs from its request besides parameters. */
  private prepareList(request: Request, context: ExecutionContext): void {
    const query = request.query as ListQuery;
    query[WORK] = request.work;
    if (request.user) query[CONFIRM] = this.confirmation(request, context);
    const { exported } = request;
    if (exported) return this.prepareExport(exported, query);
    if (request.version === 2) query[CURSORS] = this.cursorSeal.cursorsOf(request);
  }

  private prepareExport(exported: Export, query: ListQuery): void {
    exported.requireWhole(query);
    exported.confirm = query[CONFIRM];
    query[EXPORT] = exported;
  }

  private confirmation(request: Request, context: ExecutionContext): () => Promise<void> {
    return () => this.callers.confirm(request.user, accessOf(context));
  }

  private takeKey(context: ExecutionContext, request: Request, { takesKey, noKey, multipart }: RouteInput): void {
    if (!takesKey) throw keyNotTaken(noKey);
    if (multipart && request.is(MULTIPART)) {
      throw keyNotTaken('whether a form with files is the same as before would take all of its bytes to say');
    }
    expectHandler(context, this.keys);
  }

  private async takeBody(context: ExecutionContext, input: RouteInput, counts: boolean): Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const awaited = !request.complete;
    request.body = await this.bodies.read(request, response, input);
    const others = this.expectInputs(request, input, response);
    if (counts) this.quota.count(request, request.rawBody?.length ?? 0, others);
    // A client that sends its body slowly determines how old the guards' decision is, and so do others whose costly
    // bodies come first.
    if (awaited || request.work?.waitedLong) await this.callers.confirm(request.user, accessOf(context));
    return true;
  }

  /** Announces a list of inputs. Returns the number of inputs besides the first. */
  private expectInputs(request: Request, { body: rules }: RouteInput, response: Response): number {
    if (!rules?.inputs || !Array.isArray(request.body)) return 0;
    const isLenient = prefersLenient(request);
    if (isLenient) applyLenient(response);
    expectInputs(request.work!, new Bulk({ database: this.database, isLenient }));
    return request.body.length - 1;
  }

  /** A route without a declared query accepts no parameters, except `fields` and `include` if it reads one resource. */
  private checkQuery(request: Request, input: RouteInput, context: ExecutionContext): void {
    const { item, query: names } = input;
    const { fields, include } = request.query as Record<string, string | undefined>;
    const relations = include === undefined ? NONE : relationsOf(input);
    if (!names) {
      const isUnknown = include !== undefined && input.including && relations.length === 0;
      refuseNames([...(input.pages ? namesOfOtherVersions(request) : []), ...(isUnknown ? ['include'] : [])]);
    } else {
      const isKnown = (name: string) => (item && name === 'fields') || (relations.length > 0 && name === 'include');
      const others = Object.keys(request.query).filter((name) => !names.includes(name) && !isKnown(name));
      if (others.length > 0 && input.streams && input.body) this.tell(input, context);
      refuseNames(others);
    }
    if (item && fields !== undefined) request.fields = parseFields(fields, attributesOf(item));
    if (relations.length > 0) this.include(request, parseIncludes(include!, relations), input, context);
  }

  private include(request: Request, relations: Relation[], input: RouteInput, context: ExecutionContext): void {
    const query = request.query as Record<string, string | undefined> & ListQuery;
    const fields = query.fields as unknown as string | undefined;
    if (input.pages) query[KEYS] = relations.map(({ key }) => key);
    request.includes = new Embedding(request, relations, this.database, this.cursorSeal, {
      fields: fields === undefined ? undefined : parseFields(fields, attributesOf(input.including!)),
      confirm: this.confirmation(request, context),
    });
  }

  /** Warns once per route: its developer may read undeclared query parameters from the request. */
  private tell(input: RouteInput, context: ExecutionContext): void {
    if (this.told.has(input)) return;
    this.told.add(input);
    const route = `${context.getClass().name}.${context.getHandler().name}`;
    this.logger.warn(
      `A request with a query was refused: ${route} declares no such parameter. Take it by @Query(), or name it by ` +
        "@ApiQuery({ name: '...' }) where the handler reads it from the request.",
    );
  }
}

/** What `include` may name on this route. */
const relationsOf = ({ including }: RouteInput): readonly Relation[] => (including ? includesOf(including) : NONE);

/** Parameters of lists in other versions of the API. */
function namesOfOtherVersions({ query, version }: Request): string[] {
  const others = VERSIONS.filter((one) => one !== version).flatMap((one) => PARAMETERS_OF[one]);
  return others.filter((name) => name in query);
}

function refuseNames(names: string[]): void {
  if (names.length === 0) return;
  throw validationError(
    names.map((field) => ({ field, rule: 'unknown', message: 'is not a parameter of this route' })),
  );
}

/** Checks primitives strictly. Nest would pass `NaN`, and false for anything but `true`. */
function checkPrimitives(request: Request, { primitives }: RouteInput): void {
  const violations = primitives.flatMap(({ from, name, type }): FieldViolation[] => {
    const text = request[from][name];
    const isRight = typeof text !== 'string' || asPrimitive(text, type) !== undefined;
    return isRight ? [] : [{ field: name, rule: 'type', message: primitiveMessage(type)! }];
  });
  if (violations.length > 0) throw validationError(violations);
}
