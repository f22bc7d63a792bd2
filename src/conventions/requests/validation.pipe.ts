import { type ArgumentMetadata, Injectable, ValidationPipe as NestValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { CURSORS, type ListQuery, WORK } from '../lists/list-query';
import { type FieldViolation, validationError } from '../errors/api-error';

/** Of each kind of query. */
const MAX_QUERIES = 500;
const UNKNOWN = { rule: 'unknown', message: 'is not known here' };

/** The one validation of everything that comes in: body, query and path. */
@Injectable()
export class ValidationPipe extends NestValidationPipe {
  private readonly queries = new Map<unknown, Map<string, ListQuery>>();

  constructor() {
    super({
      transform: true,
      transformOptions: { exposeUnsetFields: false },
      whitelist: true,
      forbidNonWhitelisted: true,
      validationError: { target: false, value: false },
      exceptionFactory: (errors) => validationError(errors.flatMap((error) => violationsOf(error))),
    });
  }

  /** What is neither body nor query has a pipe of its own; it goes on as it is, without a promise to wait for. */
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype } = metadata;
    if (type !== 'body' && type !== 'query') return value as Promise<unknown>;
    const names = uncheckedNames(value, (metatype?.prototype ?? Object.prototype) as object);
    if (names.length > 0) throw validationError(names.map((field) => ({ field, ...UNKNOWN })));
    return type === 'query' ? this.transformQuery(value as ListQuery, metadata) : super.transform(value, metadata);
  }

  /** Kept, as most lists are asked for in the same few ways, and validating one costs more than reading it. */
  private async transformQuery(value: ListQuery, metadata: ArgumentMetadata): Promise<ListQuery> {
    const queries = this.queriesOf(metadata);
    const key = JSON.stringify(value);
    let query = queries.get(key);
    if (!query) {
      query = Object.freeze(await super.transform(value, metadata)) as ListQuery;
      if (queries.size >= MAX_QUERIES) queries.clear();
      queries.set(key, query);
    }
    // These are the request's own; what its cursors seal depends on its path.
    const { [WORK]: work, [CURSORS]: cursors } = value;
    return work || cursors ? Object.assign(copyOf(query), { [WORK]: work, [CURSORS]: cursors }) : query;
  }

  private queriesOf({ metatype }: ArgumentMetadata): Map<string, ListQuery> {
    let queries = this.queries.get(metatype);
    if (!queries) this.queries.set(metatype, (queries = new Map<string, ListQuery>()));
    return queries;
  }

  /** Leaves a single parameter to its own pipe: Nest would make a number of it, and take 1e3 and 0x10 for one. */
  protected override transformPrimitive(value: unknown): unknown {
    return value;
  }
}

/**
 * Names that are properties of every object, or accessors of the class: Nest and the libraries behind it leave them out
 * or let them pass, without a word.
 */
function uncheckedNames(value: unknown, prototype: object, parent = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [
    ...(name in prototype || name === 'prototype' ? [parent + name] : []),
    ...uncheckedNames(child, Object.prototype, `${parent}${name}.`),
  ]);
}

function copyOf(query: ListQuery): ListQuery {
  return Object.assign(Object.create(Object.getPrototypeOf(query) as object) as ListQuery, query);
}

function violationsOf({ property, constraints = {}, children = [] }: ValidationError, parent = ''): FieldViolation[] {
  const field = parent + property;
  const own = Object.entries(constraints)
    // A list of objects has a rule for its type already.
    .filter(([rule]) => rule !== 'nestedValidation')
    .map(([rule, message]) => (rule === 'whitelistValidation' ? { field, ...UNKNOWN } : { field, rule, message }));
  return [...own, ...children.flatMap((child) => violationsOf(child, `${field}.`))];
}
