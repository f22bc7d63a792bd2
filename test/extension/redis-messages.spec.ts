import { randomUUID } from 'node:crypto';
import { Controller, type INestApplication, Module, UsePipes, ValidationPipe } from '@nestjs/common';
import {
  type ClientOptions,
  type ClientProxy,
  ClientProxyFactory,
  Ctx,
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  Payload,
  RedisContext,
  RpcException,
  Transport,
} from '@nestjs/microservices';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsInt, IsString } from 'class-validator';
import { from, lastValueFrom, type Observable, toArray } from 'rxjs';
import { Repository } from 'typeorm';
import { Public } from '../../src/platform';
import { waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { useTestApi } from '../support/test-api';

const { REDIS_URL } = process.env;
const withRedis = REDIS_URL ? describe : describe.skip;
/** Other tests use the same server. */
const OWN = randomUUID();

class SumDto {
  @IsInt()
  one: number;

  @IsString()
  label: string;
}

const happened: unknown[] = [];

@Controller()
@Public()
class MathController {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  @MessagePattern({ cmd: `sum ${OWN}` })
  accumulate(data: number[]): number {
    return data.reduce((a, b) => a + b, 0);
  }

  @MessagePattern({ cmd: `async ${OWN}` })
  async later(data: number[]): Promise<number> {
    return Promise.resolve(this.accumulate(data));
  }

  @MessagePattern({ cmd: `several ${OWN}` })
  several(data: number[]): Observable<number> {
    return from(data);
  }

  @MessagePattern(`channel.${OWN}`)
  channel(@Payload() _data: unknown, @Ctx() context: RedisContext): string {
    return context.getChannel();
  }

  @MessagePattern({ cmd: `dto ${OWN}` })
  dto(@Payload() sum: SumDto): SumDto {
    return sum;
  }

  @UsePipes(new ValidationPipe({ exceptionFactory: (errors) => new RpcException(errors) }))
  @MessagePattern({ cmd: `piped ${OWN}` })
  piped(@Payload() sum: SumDto): SumDto {
    return sum;
  }

  @MessagePattern({ cmd: `exception ${OWN}` })
  exception(): never {
    throw new RpcException('Invalid credentials.');
  }

  @MessagePattern({ cmd: `fails ${OWN}` })
  fails(): never {
    throw new Error('A secret of the handler');
  }

  @EventPattern(`product_ordered ${OWN}`)
  async handleProductOrdered(@Payload() data: Partial<Product>): Promise<void> {
    const product = await this.products.save(this.products.create({ ...aProduct(), ...data }));
    happened.push(product.name);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Product])], controllers: [MathController] })
class MathModule {}

function redisOptions(): MicroserviceOptions {
  const { hostname, port, username, password } = new URL(REDIS_URL!);
  const options = { host: hostname, port: Number(port || 6379), username, password };
  return { transport: Transport.REDIS, options };
}

withRedis.each([[true], [false]])(
  'Messages by Redis of a hybrid application, inheritAppConfig: %s',
  (inheritAppConfig) => {
    const prepare = async (app: INestApplication) => {
      app.connectMicroservice<MicroserviceOptions>(redisOptions(), { inheritAppConfig });
      await app.startAllMicroservices();
    };
    const api = useTestApi({ imports: [MathModule], prepare });
    let client: ClientProxy;
    const send = (cmd: string, data: unknown) => lastValueFrom(client.send<unknown>({ cmd: `${cmd} ${OWN}` }, data));

    beforeAll(() => void (client = ClientProxyFactory.create(redisOptions() as ClientOptions)));
    afterAll(() => client.close());

    it('are answered as Nest documents it', async () => {
      expect(await send('sum', [1, 2, 3])).toBe(6);
      expect(await send('async', [1, 2, 3])).toBe(6);
      expect(await lastValueFrom(client.send({ cmd: `several ${OWN}` }, [1, 2]).pipe(toArray()))).toEqual([1, 2]);
      expect(await lastValueFrom(client.send(`channel.${OWN}`, {}))).toBe(`channel.${OWN}`);
      expect(await send('dto', { one: 1, label: 'x' })).toEqual({ one: 1, label: 'x' });
      await expect(send('piped', { one: 'x', label: 'x' })).rejects.toBeDefined();
      await expect(send('exception', {})).rejects.toMatchObject({ status: 'error', message: 'Invalid credentials.' });
      expect((await api.get('/products')).status).toBe(200);
    });

    it('are events that may write', async () => {
      happened.splice(0);
      const { name } = aProduct();
      await lastValueFrom(client.emit(`product_ordered ${OWN}`, { name }), { defaultValue: undefined });
      await waitFor(() => happened.length > 0);

      expect(happened).toEqual([name]);
      expect(await api.repository(Product).existsBy({ name })).toBe(true);
    });

    it('are validated, and their errors hidden, with the configuration of the service', async () => {
      const invalid = send('dto', { one: 'x', label: 'x' });
      const failed = send('fails', {}).catch((error: unknown) => error);

      if (inheritAppConfig) {
        await expect(invalid).rejects.toMatchObject({ code: 'VALIDATION_ERROR', fields: [{ field: 'one' }] });
        expect(await failed).toMatchObject({ status: 'error', code: 'INTERNAL_ERROR' });
      } else {
        expect(await invalid).toEqual({ one: 'x', label: 'x' });
        expect(await failed).toMatchObject({ status: 'error', message: 'Internal server error' });
      }
      expect(JSON.stringify(await failed)).not.toContain('secret');
    });
  },
);
