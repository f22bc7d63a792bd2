import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { type Layer, stackOf } from '../routing/route-index';

type RequestHook = Parameters<ExpressAdapter['setOnRequestHook']>[0];
type ResponseHook = Parameters<ExpressAdapter['setOnResponseHook']>[0];

/**
 * Nest's Express adapter. The middleware that calls its hooks is in the router only while there is a hook: the step of the router
 * costs every request more than the middleware does (D-306).
 */
export class HookedAdapter extends ExpressAdapter {
  private readonly caller: Layer[];

  constructor() {
    super();
    this.caller = stackOf(this.getInstance<Express>()).splice(0);
  }

  override setOnRequestHook(hook: RequestHook): void {
    super.setOnRequestHook(hook);
    this.callHooks();
  }

  override setOnResponseHook(hook: ResponseHook): void {
    super.setOnResponseHook(hook);
    this.callHooks();
  }

  /** Hooks come before all middleware, whenever they were set. */
  private callHooks(): void {
    stackOf(this.getInstance<Express>()).unshift(...this.caller.splice(0));
  }
}
