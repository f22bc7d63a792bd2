import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { DeclaredAccess } from '../auth/declared-access';
import { StartupError } from '../config/startup-error';
import { inputClasses, takesUntypedList } from './route-input';
import type { Controller } from '../http/route-parameters';
import { hasUnreadSchema } from './unread-schemas';

const UNTYPED_LIST =
  'The compiler tells nobody of which class the items of a list are, so these bodies would not be validated; write ' +
  '@Body(new ParseArrayPipe({ items: ThingDto })) there';
const UNREAD_SCHEMA =
  'These parameters name a schema that no pipe compares them with, so they would not be validated; add ' +
  '@UsePipes(StandardSchemaValidationPipe) there, or app.useGlobalPipes(new StandardSchemaValidationPipe()) in `prepare` of run()';

/**
 * Refuses the start when a route takes input that nothing would validate as declared. Warns of classes that allow no
 * attribute.
 */
@Injectable()
export class DeclaredInput implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger(DeclaredInput.name);

  /** The pipes of all routes. Default: none */
  ofAllRoutes?: () => readonly unknown[];

  constructor(private readonly access: DeclaredAccess) {}

  onModuleInit(): void {
    const ofAll = this.ofAllRoutes?.() ?? [];
    this.refuse(takesUntypedList, UNTYPED_LIST);
    this.refuse((handler, owner) => hasUnreadSchema(handler, owner, ofAll), UNREAD_SCHEMA);
  }

  private refuse(isRefused: (handler: object, controller: Controller) => boolean, reason: string): void {
    const routes = this.namesOf((handler, owner) => (isRefused(handler, owner) ? [''] : []));
    if (routes.length > 0) throw new StartupError(`${reason}:\n${routes.map((route) => `  - ${route}`).join('\n')}`);
  }

  onApplicationBootstrap(): void {
    const routes = this.namesOf((handler, owner) =>
      inputClasses(handler, owner)
        .filter((type) => !hasRules(type))
        .map((type) => `: ${type.name}`),
    );
    if (routes.length === 0) return;
    this.logger.warn(
      'These handlers take classes whose attributes have no rules, so that whatever a client sends is refused as not known ' +
        'here; give each attribute a rule, such as @IsString(), or @Allow() for any value:\n' +
        routes.map((route) => `  - ${route}`).join('\n'),
    );
  }

  /** The names of handlers, with the remarks about each. */
  private namesOf(remarks: (handler: object, controller: Controller) => string[]): string[] {
    return this.access.routes().flatMap(({ controller, handler, owner, targets }) => {
      const said = remarks(targets[0], owner);
      return said.map((remark) => `${controller}.${handler}${remark}`);
    });
  }
}

/** True if the class, or a class that it extends, has rules. */
function hasRules(type: new () => object): boolean {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false).length > 0;
}
