import type { Request } from 'express';
import { UnitOfWork } from '../../database/unit-of-work';
import { expectationOf } from './precondition';

/** One request, as far as code that is not handed it has to know of it. */
export class RequestScope extends UnitOfWork {
  constructor(readonly request: Request) {
    super(() => expectationOf(request));
  }

  /** The request that is being answered; undefined outside of one. */
  static get request(): Request | undefined {
    const work = UnitOfWork.current();
    return work instanceof RequestScope ? work.request : undefined;
  }
}
