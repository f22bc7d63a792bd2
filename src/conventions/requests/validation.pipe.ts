import { type ArgumentMetadata, Injectable, ValidationPipe as NestValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { PAGE_PARAMETERS } from '../lists/list-query';
import { type FieldViolation, validationError } from '../errors/api-error';
import { RequestScope } from './request-scope';
import { VERSIONS } from './version';

/** Of each kind of query. */
const MAX_QUERIES = 500;
const UNKNOWN = { rule: 'unknown', message: 'is not known here' };

/** The one validation of everything that comes in: body, query and path. */
@Injectable()
export class ValidationPipe extends NestValidationPipe {
  private readonly queries = new Map<unknown, Map<string, object>>();

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

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'body' || metadata.type === 'query') {
      const prototype = (metadata.metatype?.prototype ?? Object.prototype) as object;
      const names = [
        ...uncheckedNames(value, prototype),
        ...(metadata.type === 'query' ? namesOfOtherVersions(value) : []),
      ];
      if (names.length > 0) throw validationError(names.map((field) => ({ field, ...UNKNOWN })));
    }
    return metadata.type === 'query' ? this.transformQuery(value, metadata) : super.transform(value, metadata);
  }

  /** Kept, as most lists are asked for in the same few ways, and validating one costs more than reading it. */
  private async transformQuery(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const queries = this.queriesOf(metadata);
    const key = JSON.stringify(value);
    const known = queries.get(key);
    if (known) return known;
    const query = Object.freeze(await super.transform(value, metadata)) as object;
    if (queries.size >= MAX_QUERIES) queries.clear();
    queries.set(key, query);
    return query;
  }

  private queriesOf({ metatype }: ArgumentMetadata): Map<string, object> {
    let queries = this.queries.get(metatype);
    if (!queries) this.queries.set(metatype, (queries = new Map<string, object>()));
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

/** How other versions of the API page. */
function namesOfOtherVersions(query: unknown): string[] {
  const version = RequestScope.request?.version;
  const others = VERSIONS.filter((one) => one !== version).map((one) => PAGE_PARAMETERS[one]);
  return Object.keys(query as object).filter((name) => others.includes(name));
}

function violationsOf({ property, constraints = {}, children = [] }: ValidationError, parent = ''): FieldViolation[] {
  const field = parent + property;
  const own = Object.entries(constraints)
    // A list of objects has a rule for its type already.
    .filter(([rule]) => rule !== 'nestedValidation')
    .map(([rule, message]) => (rule === 'whitelistValidation' ? { field, ...UNKNOWN } : { field, rule, message }));
  return [...own, ...children.flatMap((child) => violationsOf(child, `${field}.`))];
}
