import { Body, type PipeTransform, type Type } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { isApiError, MAX_VIOLATIONS, validationError } from '../errors/api-error';
import { LoopTurns } from '../limits/loop-turns';
import { UnitOfWork } from '../transactions/unit-of-work';
import type { Bulk, Inputs } from './bulk';
import { allOf } from './results';

/** Validates one input, like a body. */
export type Validate = (value: unknown, type: Type<object>) => Promise<unknown>;

const bulks = new WeakMap<UnitOfWork, Bulk>();
const lists = new WeakMap<object[], { bulk?: Bulk; inputs: Inputs }>();

/** Announces a request with a list of inputs, before its pipes run. */
export function expectInputs(unit: UnitOfWork, bulk: Bulk): void {
  bulks.set(unit, bulk);
}

/** What is known of a list that {@link InputsOf} has given to a handler. */
export const knownList = (list: unknown): { bulk?: Bulk; inputs: Inputs } | undefined =>
  Array.isArray(list) ? lists.get(list as object[]) : undefined;

/**
 * The body of a route with `@CreatesEach()`, as a list: an input alone is a list of one.
 *
 *     create(@InputsOf(CreateNoteDto) inputs: CreateNoteDto[]): Promise<NoteDto[]>
 */
export function InputsOf(type: Type<object>): ParameterDecorator {
  return (target, method, index) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, method!)!;
    ApiBody({ type })(target, method!, descriptor);
    Body(new InputsPipe(type))(target, method, index);
  };
}

/** Stands for the validation of the inputs; the pipeline replaces it by {@link inputsPipe}. */
export class InputsPipe implements PipeTransform {
  constructor(readonly type: Type<object>) {}

  transform(): never {
    throw new Error(`The inputs of ${this.type.name} need the ValidationPipe of the service, which is missing here`);
  }
}

export function inputsPipe({ type }: InputsPipe, validate: Validate): PipeTransform<unknown, Promise<object[]>> {
  return { transform: (body) => readInputs(body, (value) => validate(value, type)) };
}

/** @throws {ApiError} for an input alone, and for a list unless the request is lenient */
async function readInputs(body: unknown, validate: (value: unknown) => Promise<unknown>): Promise<object[]> {
  if (!Array.isArray(body))
    return keep({ valid: new Map([[0, (await validate(body)) as object]]), failures: new Map() });
  const unit = UnitOfWork.current();
  const bulk = unit && bulks.get(unit);
  const inputs: Inputs = { valid: new Map(), failures: new Map() };
  const turns = new LoopTurns();
  for (const [position, value] of body.entries()) {
    if (turns.isOver) await turns.next();
    await readInput(position, value, validate, inputs);
    if (!bulk?.isLenient && inputs.failures.size >= MAX_VIOLATIONS) break;
  }
  if (!bulk?.isLenient && inputs.failures.size > 0) throw allOf(inputs.failures);
  return keep(inputs, bulk);
}

async function readInput(
  position: number,
  value: unknown,
  validate: (value: unknown) => Promise<unknown>,
  { valid, failures }: Inputs,
): Promise<void> {
  try {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
    valid.set(position, (await validate(value)) as object);
  } catch (error) {
    if (!isApiError(error)) throw error;
    failures.set(position, error);
  }
}

function keep(inputs: Inputs, bulk?: Bulk): object[] {
  const list = [...inputs.valid.values()];
  lists.set(list, { bulk, inputs });
  return list;
}

const notAnObject = () => validationError([{ field: '', rule: 'type', message: 'must be an object' }]);
