import { ParseArrayPipe } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { InputsPipe } from '../bulk/inputs';
import type { Parameter } from '../http/route-parameters';
import { type Declared, declaredBy } from '../input/declared-types';

/** What a handler takes of a body: as a whole, or by parameters for single attributes. */
export function declaredBody(parameters: Parameter[]): Declared | undefined {
  const bodies = parameters.filter(({ kind }) => kind === RouteParamtypes.BODY);
  const whole = bodies.find(({ name }) => name === undefined);
  if (whole) return declaredWhole(whole);
  return { type: 'object', of: (name) => declaredBy(bodies.find((one) => one.name === name)?.type) };
}

function declaredWhole({ type, pipes }: Parameter): Declared | undefined {
  for (const pipe of pipes) {
    if (pipe instanceof InputsPipe) return { ...declaredBy(pipe.type)!, items: declaredBy(pipe.type) };
    if (pipe instanceof ParseArrayPipe) return { type: 'array', items: declaredBy(pipe['options']?.items) };
  }
  return declaredBy(type);
}
