import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { knownList } from '../bulk/inputs';
import { CREATES_EACH, Extension } from '../http/route-keys';
import { type AnyHandler, wrapped } from '../http/wrapped-handler';
import { Creates } from './route.decorators';
import type { DtoClass } from '../input/fields';

/**
 * Answers 201 with the created resource and its `Location`, like {@link Creates}. The body may also be a list of at most
 * 1,000 inputs, in JSON or in `application/x-ndjson`: all of them are created in one transaction, or none. With `Prefer:
 * handling=lenient` each gets a result of its own (207). The handler takes its inputs by `@InputsOf(Dto)`, and returns a
 * resource for each in the same order.
 */
export const CreatesEach = (dto: DtoClass): MethodDecorator =>
  applyDecorators(
    SetMetadata(CREATES_EACH, true),
    ApiExtension(Extension.EACH, true),
    // Applied before the wrapper of the key, which has to be around this one.
    unwrapsOne,
    Creates(dto),
  );

/** Runs the handler for a list, and answers the resource of an input that came alone. */
const unwrapsOne: MethodDecorator = (_target, name, descriptor) => {
  descriptor.value = wrapped(descriptor.value as AnyHandler, name, function (handler, values) {
    const at = values.findIndex((value) => knownList(value));
    const { bulk, inputs } = knownList(values[at]) ?? {};
    const create = async (list: object[]) => (await handler(values.with(at, list))) as object[];
    if (!inputs) return handler(values);
    if (bulk) return bulk.run(inputs, create);
    const list = values[at] as object[];
    if (list.length !== 1)
      throw new Error('This list of inputs has come without a transaction: nothing was read as a body');
    return first(create(list));
  }) as typeof descriptor.value;
};

async function first(list: Promise<object[]>): Promise<object> {
  return (await list)[0];
}
