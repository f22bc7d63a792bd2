import { Controller, type INestApplication, Logger, Module } from '@nestjs/common';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Args, Field, GraphQLModule, InputType, Mutation, ObjectType, Query, Resolver } from '@nestjs/graphql';
import {
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  Payload,
  RpcException,
  Transport,
} from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets';
import { IsInt, IsString } from 'class-validator';
import express from 'express';
import { type Caller, CurrentUser, Public, Role, Roles, seconds, TakesUpTo } from '../../../src/platform';
import { freePort } from '../free-port';

@InputType()
class Sum {
  @Field()
  @IsInt()
  one: number;

  @Field()
  @IsString()
  label: string;
}

@ObjectType()
class Who {
  @Field(() => String)
  id: string;
}

/** The same handlers for all transports. */
class Handlers {
  open(caller: Caller | undefined): object {
    return { id: String(caller?.id ?? 'nobody') };
  }

  fail(): never {
    throw new Error('A secret of the handler');
  }
}

@WebSocketGateway()
class EventsGateway extends Handlers {
  @SubscribeMessage('open')
  @Public()
  @TakesUpTo(seconds(20))
  onOpen(@CurrentUser() caller: Caller | undefined): object {
    return { event: 'open', data: this.open(caller) };
  }

  @SubscribeMessage('user')
  @Roles(Role.USER)
  onUser(@CurrentUser() caller: Caller): object {
    return { event: 'user', data: this.open(caller) };
  }

  @SubscribeMessage('admin')
  @Roles(Role.ADMIN)
  onAdmin(): object {
    return { event: 'admin', data: {} };
  }

  @SubscribeMessage('sum')
  @Public()
  onSum(@MessageBody() sum: Sum): object {
    return { event: 'sum', data: sum };
  }

  @SubscribeMessage('fail')
  @Public()
  onFail(): void {
    this.fail();
  }

  @SubscribeMessage('exception')
  @Public()
  onException(): void {
    throw new WsException({ reason: 'own' });
  }
}

export const events: unknown[] = [];

@Controller()
class MessagesController extends Handlers {
  /** Where a class speaks of a logger, reads are followed: that is for requests, and leaves messages alone. */
  private readonly logger = new Logger('Messages');

  @MessagePattern({ cmd: 'null' })
  @Public()
  onNull(@Payload() payload: unknown): object {
    this.logger.log('null');
    return { payload };
  }

  @MessagePattern({ cmd: 'open' })
  @Public()
  @TakesUpTo(seconds(20))
  onOpen(@CurrentUser() caller: Caller | undefined): object {
    return this.open(caller);
  }

  @MessagePattern({ cmd: 'sum' })
  @Public()
  onSum(@Payload() sum: Sum): object {
    return sum;
  }

  @MessagePattern({ cmd: 'fail' })
  @Public()
  onFail(): void {
    this.fail();
  }

  @MessagePattern({ cmd: 'exception' })
  @Public()
  onException(): void {
    throw new RpcException('own');
  }

  @EventPattern('happened')
  @Public()
  onEvent(@Payload() payload: unknown): void {
    events.push(payload);
  }
}

@Resolver()
class WhoResolver extends Handlers {
  @Query(() => Who)
  @Public()
  @TakesUpTo(seconds(20))
  openQuery(@CurrentUser() caller: Caller | undefined): object {
    return this.open(caller);
  }

  @Query(() => Who)
  @Roles(Role.USER)
  userQuery(@CurrentUser() caller: Caller): object {
    return this.open(caller);
  }

  @Mutation(() => Who)
  @Roles(Role.ADMIN)
  adminMutation(@CurrentUser() caller: Caller): object {
    return this.open(caller);
  }

  @Query(() => Who)
  @Public()
  sumQuery(@Args('sum') sum: Sum): object {
    return { id: sum.label };
  }

  @Query(() => Who)
  @Public()
  failQuery(): object {
    return this.fail();
  }
}

@Module({
  imports: [
    GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true, playground: false }),
  ],
  providers: [EventsGateway, WhoResolver],
  controllers: [MessagesController],
})
export class TransportsModule {}

export let servicePort: number;

export async function prepare(app: INestApplication): Promise<void> {
  app.use('/graphql', express.json());
  app.useWebSocketAdapter(new WsAdapter(app));
  servicePort = await freePort();
  app.connectMicroservice<MicroserviceOptions>(
    { transport: Transport.TCP, options: { host: '127.0.0.1', port: servicePort } },
    { inheritAppConfig: true },
  );
  await app.startAllMicroservices();
}
