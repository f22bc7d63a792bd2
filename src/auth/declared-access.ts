import { Injectable, type OnModuleInit, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { StartupError } from '../config/startup-error';
import { type Access, ACCESS } from './access.decorators';

export interface DeclaredRoute {
  /** E.g. `GET users/:id (UsersController.get)`. */
  name: string;
  /** E.g. `UsersController`. */
  controller: string;
  /** E.g. `get`. */
  handler: string;
  access: Access | undefined;
}

/** Refuses the start when a route says neither @Public() nor @Roles(): forgetting is not a way to publish something. */
@Injectable()
export class DeclaredAccess implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const open = this.routes().filter(({ access }) => access === undefined);
    if (open.length === 0) return;
    const names = open.map(({ name }) => `  - ${name}`).join('\n');
    throw new StartupError(`These routes don't say who may call them; add @Public() or @Roles():\n${names}`);
  }

  routes(): DeclaredRoute[] {
    return this.discovery
      .getControllers()
      .flatMap(({ metatype }) => (metatype ? this.routesOf(metatype as Controller) : []));
  }

  private routesOf(controller: Controller): DeclaredRoute[] {
    const prototype = controller.prototype;
    return this.scanner
      .getAllMethodNames(prototype)
      .map((name) => ({ name, handler: prototype[name] }))
      .filter(({ handler }) => Reflect.hasMetadata(METHOD_METADATA, handler))
      .map(({ name, handler }) => ({
        name: `${describe(controller, handler)} (${controller.name}.${name})`,
        controller: controller.name,
        handler: name,
        access: this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, controller]),
      }));
  }
}

type Handler = (...args: unknown[]) => unknown;
type Controller = { name: string; prototype: Record<string, Handler> } & (new (...args: unknown[]) => unknown);

function describe(controller: Controller, handler: Handler): string {
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
  const paths = [controller, handler].map((target) => Reflect.getMetadata(PATH_METADATA, target) as string);
  return `${method} ${paths.filter((path) => path && path !== '/').join('/')}`;
}
