import { Inject, Injectable, type OnModuleInit, Optional, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { type Access, ACCESS } from './access.decorators';
import { refuse, refuseLateGuards, requireStrategies } from './declared-strategies';
import { DEFAULT_STRATEGIES } from './strategies';

export interface DeclaredRoute {
  /** E.g. `GET users/:id (UsersController.get)`. */
  name: string;
  /** E.g. `UsersController`. */
  controller: string;
  /** E.g. `get`. */
  handler: string;
  /** The class of the controller. */
  owner: abstract new (...args: never[]) => unknown;
  access: Access | undefined;
  /** The objects that decorators may have been applied to: the method, and its class. */
  targets: [handler: object, owner: object];
}

type Handler = (...args: unknown[]) => unknown;
type Owner = { name: string; prototype: Record<string, Handler> } & (new (...args: unknown[]) => unknown);
type Describe = (handler: Handler, owner: Owner) => string | undefined;

/**
 * Metadata keys under which other packages of Nest mark handlers. The service itself doesn't depend on these packages.
 */
const MESSAGE_OF_CLIENT = 'message';
const IS_MESSAGE_OF_CLIENT = 'websockets:message_mapping';
const PATTERNS_OF_SERVICE = 'microservices:pattern';
const GRAPHQL_TYPE = 'graphql:resolver_type';
const GRAPHQL_OPERATIONS = ['Query', 'Mutation', 'Subscription'];

/**
 * Refuses the start when a route has neither @Public() nor @Roles(), so that nobody publishes a route by forgetting its
 * access.
 */
@Injectable()
export class DeclaredAccess implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    @Optional() @Inject(DEFAULT_STRATEGIES) private readonly everywhere?: string[],
  ) {}

  onModuleInit(): void {
    const messages = this.handlersOf(messageOfService);
    const open = [...this.routes(), ...this.handlersOf(messageOfClient), ...this.handlersOf(operation), ...messages];
    refuse(
      open.filter(({ access }) => access === undefined),
      "These routes don't say who may call them; add @Public() or @Roles(), or have declareAccess() say it for a library's",
    );
    requireStrategies(open, this.everywhere);
    refuseLateGuards(open);
    refuse(
      messages.filter(({ access }) => access?.kind === 'roles'),
      'A message of another service has no caller, who could have a role; make these @Public(), and check with a guard of ' +
        'your own what the message itself tells of its sender',
    );
  }

  /** The HTTP routes. */
  routes(): DeclaredRoute[] {
    return this.handlersOf(route, this.discovery.getControllers());
  }

  private handlersOf(
    describe: Describe,
    wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()],
  ): DeclaredRoute[] {
    const owners = new Set(wrappers.map(({ metatype }) => metatype));
    return [...owners].flatMap((owner) => this.describeAll(owner, describe));
  }

  private describeAll(metatype: unknown, describe: Describe): DeclaredRoute[] {
    const owner = metatype as Owner | null;
    if (!owner?.prototype) return [];
    return this.scanner.getAllMethodNames(owner.prototype).flatMap((name) => {
      const handler = owner.prototype[name];
      const description = describe(handler, owner);
      if (description === undefined) return [];
      const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, owner]);
      return {
        name: `${description} (${owner.name}.${name})`,
        controller: owner.name,
        handler: name,
        owner,
        access,
        targets: [handler, owner],
      };
    });
  }
}

const read = (key: string, target: object): unknown => Reflect.getMetadata(key, target);

function route(handler: Handler, owner: Owner): string | undefined {
  const method = read(METHOD_METADATA, handler) as RequestMethod | undefined;
  if (method === undefined) return undefined;
  const paths = [owner, handler].map((target) => read(PATH_METADATA, target) as string);
  return `${RequestMethod[method]} ${paths.filter((path) => path && path !== '/').join('/')}`;
}

const messageOfClient: Describe = (handler) =>
  read(IS_MESSAGE_OF_CLIENT, handler) ? `message ${JSON.stringify(read(MESSAGE_OF_CLIENT, handler))}` : undefined;

function messageOfService(handler: Handler): string | undefined {
  const patterns = read(PATTERNS_OF_SERVICE, handler);
  if (patterns === undefined) return undefined;
  const texts = [patterns].flat().map((one) => JSON.stringify(one));
  return `pattern ${texts.join()}`;
}

/** Only root operations: by default Nest runs no guards for the field resolvers of their results. */
function operation(handler: Handler): string | undefined {
  const type = read(GRAPHQL_TYPE, handler) as string | undefined;
  return type && GRAPHQL_OPERATIONS.includes(type) ? `GraphQL ${type}` : undefined;
}
