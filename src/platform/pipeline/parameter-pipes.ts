import {
  type ArgumentMetadata,
  HttpException,
  ParseArrayPipe,
  type ParseArrayOptions,
  type PipeTransform,
  type Type,
  ValidationPipe as NestValidationPipe,
} from '@nestjs/common';
import { PipesConsumer } from '@nestjs/core/pipes/pipes-consumer';
import { InputsPipe, inputsPipe } from '../bulk/inputs';
import { noteRefusal, refusalOf } from '../errors/refused-parameters';
import { CONFIRM, CURSORS, EXPORT, KEYS, type ListQuery, WORK } from '../lists/list-query';
import { IdPipe } from '../input/id.pipe';
import { type Groups, ValidationPipe } from '../input/validation.pipe';
import { violationsOf } from '../input/violations';
import { fieldOfFiles } from './file-fields';
import { schemaViolations } from './schema-issues';

/** The client's names of parameters that hold the whole body, query or path. */
const WHOLE: Record<string, string> = { body: 'body', query: 'query', param: 'path' };
/** The options of Nest's ParseArrayPipe that the service's own list pipe supports. */
const LIST_OPTIONS = ['items', 'optional', 'separator', 'stopAtFirstError'];
const PRIMITIVES: unknown[] = [String, Number, Boolean];

const planned = new WeakMap<PipeTransform[], PipeTransform[]>();

/**
 * Nest calls the pipes of a parameter one after the other, but its errors don't name the parameter. This replacement
 * records the parameter. It also lets the service's own validation do the work of some of Nest's pipes.
 */
PipesConsumer.prototype.applyPipes = async function (value: unknown, metadata: ArgumentMetadata, pipes) {
  const given = isPromise(value) ? await value : value;
  let result = given;
  try {
    for (const pipe of planOf(pipes)) {
      const made = pipe.transform(result, metadata) as unknown;
      result = isPromise(made) ? await made : made;
    }
  } catch (error) {
    noteParameter(error, metadata, given, pipes);
    throw error;
  }
  if (metadata.type === 'query' && metadata.data === undefined) keepOwn(given as ListQuery, result as ListQuery);
  return result;
};

const ofNest = Object.getOwnPropertyDescriptor(NestValidationPipe.prototype, 'createExceptionFactory')
  ?.value as NestValidationPipe['createExceptionFactory'];

/**
 * Nest turns violations into texts, in which names of fields can't be recognised. The original violations are recorded.
 */
NestValidationPipe.prototype.createExceptionFactory = function (this: NestValidationPipe) {
  const create = ofNest.call(this);
  if (this['isDetailedOutputDisabled']) return create;
  return (errors = []) => {
    const exception = create(errors);
    const violations = errors.flatMap((error) => violationsOf(error));
    noteRefusal(exception as object, { violations });
    return exception;
  };
};

function planOf(pipes: PipeTransform[]): PipeTransform[] {
  let plan = planned.get(pipes);
  if (!plan) planned.set(pipes, (plan = pipes.length > 1 ? planFor(pipes) : pipes));
  return plan;
}

function planFor(pipes: PipeTransform[]): PipeTransform[] {
  const validation = pipes.find((pipe) => pipe instanceof ValidationPipe);
  if (!validation) return pipes;
  // IdPipe parses the text itself: a number would lose digits.
  if (pipes.some((pipe) => pipe instanceof IdPipe)) return pipes.filter((pipe) => pipe !== validation);
  const inputs = pipes.find((pipe) => pipe instanceof InputsPipe);
  if (inputs) return [inputsPipe(inputs, (value, metatype) => validation.transform(value, { type: 'body', metatype }))];
  const groups = pipes.map(groupsOf).find((chosen) => chosen !== undefined);
  return pipes.map((pipe) => {
    if (pipe === validation) return groups ? validation.inGroups(groups) : pipe;
    return pipe instanceof ParseArrayPipe ? listPipe(pipe, validation) : pipe;
  });
}

/** The validation groups of a route's own pipe. A rule with groups applies to routes that name one of them. */
function groupsOf(pipe: PipeTransform): Groups | undefined {
  if (!(pipe instanceof NestValidationPipe) || pipe instanceof ValidationPipe) return undefined;
  const { groups, always, strictGroups } = pipe['validatorOptions'];
  return groups?.length ? { groups, always, strictGroups } : undefined;
}

/**
 * Replaces Nest's list pipe, which accepts unknown attributes, and neither says which item is invalid nor reports all
 * violations.
 */
function listPipe(pipe: ParseArrayPipe, validation: ValidationPipe): PipeTransform {
  const options: ParseArrayOptions = pipe['options'];
  const { items } = options;
  if (!items || PRIMITIVES.includes(items) || !Object.keys(options).every((name) => LIST_OPTIONS.includes(name))) {
    return pipe;
  }
  const ownPipe = validation.forListsOf(items as Type<object>);
  return {
    transform: (value: unknown, metadata) =>
      Array.isArray(value) ? (ownPipe.transform(value, metadata) as unknown) : pipe.transform(value, metadata),
  };
}

function noteParameter(error: unknown, { type, data }: ArgumentMetadata, given: unknown, pipes: PipeTransform[]): void {
  if (!(error instanceof HttpException)) return;
  const { violations } = refusalOf(error) ?? {};
  const inBody = type === 'body' && typeof data === 'string';
  const name = typeof data === 'string' ? data : undefined;
  const ofSchema = schemaViolations(error, name, WHOLE[type] ?? 'request');
  noteRefusal(error, {
    field: name ?? WHOLE[type] ?? nameOfFiles(given) ?? fieldOfFiles(pipes),
    ...(ofSchema && { violations: ofSchema }),
    ...(inBody && violations && { violations: violations.map((one) => ({ ...one, field: `${data}.${one.field}` })) }),
  });
}

/** The form field of uploaded files, which Nest's interceptors record. Undefined if the files have several fields. */
function nameOfFiles(given: unknown): string | undefined {
  const names = new Set([given].flat().map((file) => (file as { fieldname?: string } | undefined)?.fieldname));
  return names.size === 1 ? [...names][0] : undefined;
}

/** Copies what the input guard has added to a list's query to the query that a pipe has made of it. */
function keepOwn(given: ListQuery | undefined, made: ListQuery | undefined): void {
  if (!given?.[WORK] || given === made || typeof made !== 'object' || made[WORK]) return;
  made[WORK] = given[WORK];
  made[CURSORS] = given[CURSORS];
  made[CONFIRM] = given[CONFIRM];
  made[EXPORT] = given[EXPORT];
  if (given[KEYS]) made[KEYS] = given[KEYS];
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
