import { Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import type { Request, RequestHandler } from 'express';
import { isAllowed, Public } from '../auth/access.decorators';
import type { Caller } from '../auth/caller';
import { DeclaredAccess, type DeclaredRoute } from '../auth/declared-access';
import { JwtAuthGuard } from '../auth/jwt-auth.guard';
import { STRATEGIES } from '../auth/strategies';
import { controllerMethodOf } from '../routing/controller-methods';
import type { MayCall, RightsOf } from '../routing/unknown-route';

/** The access of OPTIONS, where no route answers it. */
@Public()
class OptionsOfPath {
  static readonly route = () => undefined;
}

/** Tells which routes the caller of an OPTIONS request may call. */
@Injectable()
export class CallerRights {
  private routes?: DeclaredRoute[];

  constructor(
    private readonly declared: DeclaredAccess,
    private readonly guard: JwtAuthGuard,
  ) {}

  /** Without credentials everything: a caller who signs in may do more, and a preflight has none. */
  // eslint-disable-next-line no-restricted-syntax -- one for the whole process
  readonly of: RightsOf = async (request, response) => {
    await this.guard.canActivate(new ExecutionContextHost([request, response], OptionsOfPath, OptionsOfPath.route));
    const { user } = request as Request & { user?: Caller };
    return user ? this.rightsOf(user) : () => true;
  };

  private rightsOf(caller: Caller): MayCall {
    return (handler: RequestHandler) => {
      const routes = this.routesOf(controllerMethodOf(handler));
      // A handler that was added by hand checks its callers itself.
      return (
        routes.length === 0 ||
        routes.some(({ access, targets }) => hasOwnCredentials(targets) || isAllowed(access, caller))
      );
    };
  }

  /** Several classes may inherit a method. */
  private routesOf(method: object | undefined): DeclaredRoute[] {
    this.routes ??= this.declared.routes();
    return method ? this.routes.filter(({ targets }) => targets[0] === method) : [];
  }
}

/** Whether a route has credentials of its own, which the request was not asked for. */
const hasOwnCredentials = (targets: DeclaredRoute['targets']): boolean =>
  targets.some((target) => Reflect.hasMetadata(STRATEGIES, target));
