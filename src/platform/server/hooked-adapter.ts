import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { type Layer, stackOf } from '../routing/route-index';

type RequestHook = Parameters<ExpressAdapter['setOnRequestHook']>[0];
type ResponseHook = Parameters<ExpressAdapter['setOnResponseHook']>[0];

/**
 * Nest's Express adapter. Its middleware that calls the hooks of requests and responses is only in the router while there is a
 * hook: the router takes longer to pass a request on than all else that happens to it there.
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
