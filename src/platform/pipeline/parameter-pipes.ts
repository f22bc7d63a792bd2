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
import { noteRefusal, refusalOf } from '../errors/refused-parameters';
import { CONFIRM, CURSORS, type ListQuery, WORK } from '../lists/list-query';
import { IdPipe } from '../input/id.pipe';
import { type Groups, ValidationPipe } from '../input/validation.pipe';
import { violationsOf } from '../input/violations';

/** What a client knows a parameter by that is all of something. */
const WHOLE: Record<string, string> = { body: 'body', query: 'query', param: 'path' };
/** Options of Nest's pipe for lists by which it does what the service's own does. */
const LIST_OPTIONS = ['items', 'optional', 'separator', 'stopAtFirstError'];
const PRIMITIVES: unknown[] = [String, Number, Boolean];

const planned = new WeakMap<PipeTransform[], PipeTransform[]>();

/**
 * Nest calls the pipes of a parameter one after the other, and tells nobody which parameter it was that one of them has refused.
 * Here that is noted; and the service's validation does what the pipes behind it ask for.
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
    noteParameter(error, metadata, given);
    throw error;
  }
  if (metadata.type === 'query' && metadata.data === undefined) keepOwn(given as ListQuery, result as ListQuery);
  return result;
};

const ofNest = Object.getOwnPropertyDescriptor(NestValidationPipe.prototype, 'createExceptionFactory')
  ?.value as NestValidationPipe['createExceptionFactory'];

/** Nest makes texts of what its pipe finds, in which the names of fields are words like others. */
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
  // It reads the text itself, which is more than a number says.
  if (pipes.some((pipe) => pipe instanceof IdPipe)) return pipes.filter((pipe) => pipe !== validation);
  const groups = pipes.map(groupsOf).find((chosen) => chosen !== undefined);
  return pipes.map((pipe) => {
    if (pipe === validation) return groups ? validation.inGroups(groups) : pipe;
    return pipe instanceof ParseArrayPipe ? listPipe(pipe, validation) : pipe;
  });
}

/** A rule that belongs to some groups is meant for those routes whose own pipe names one. */
function groupsOf(pipe: PipeTransform): Groups | undefined {
  if (!(pipe instanceof NestValidationPipe) || pipe instanceof ValidationPipe) return undefined;
  const { groups, always, strictGroups } = pipe['validatorOptions'];
  return groups?.length ? { groups, always, strictGroups } : undefined;
}

/** Nest's own refuses no unknown attribute, and says neither which item is wrong nor all that is. */
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

function noteParameter(error: unknown, { type, data }: ArgumentMetadata, given: unknown): void {
  if (!(error instanceof HttpException)) return;
  const { violations } = refusalOf(error) ?? {};
  const inBody = type === 'body' && typeof data === 'string';
  noteRefusal(error, {
    field: typeof data === 'string' ? data : (WHOLE[type] ?? nameOfFiles(given)),
    ...(inBody && violations && { violations: violations.map((one) => ({ ...one, field: `${data}.${one.field}` })) }),
  });
}

/** The interceptors of Nest for files say which part of the form a file was; undefined where files were several parts. */
function nameOfFiles(given: unknown): string | undefined {
  const names = new Set([given].flat().map((file) => (file as { fieldname?: string } | undefined)?.fieldname));
  return names.size === 1 ? [...names][0] : undefined;
}

/** What a pipe makes of a query is the same request's: a list needs what the input guard has put into it. */
function keepOwn(given: ListQuery | undefined, made: ListQuery | undefined): void {
  if (!given?.[WORK] || given === made || typeof made !== 'object' || made[WORK]) return;
  made[WORK] = given[WORK];
  made[CURSORS] = given[CURSORS];
  made[CONFIRM] = given[CONFIRM];
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
