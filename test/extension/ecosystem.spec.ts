import { Body, Controller, Get, Inject, Injectable, Module, Param, Post, Query } from '@nestjs/common';
import { ConfigModule, ConfigService, type ConfigType, registerAs } from '@nestjs/config';
import { ContextIdFactory } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { getDataSourceToken, InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Allow } from 'class-validator';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Column, DataSource, Entity, EntityManager, Repository } from 'typeorm';
import {
  AnswersPage,
  Idempotent,
  insertRow,
  ListQueryOf,
  type Page,
  paginate,
  Public,
  readRow,
  ResourceDto,
  ResourceEntity,
  resourceOf,
} from '../../src/platform';
import { cloneTemplate, times } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { useTestApi } from '../support/test-api';
import { DurableController, OfTenant, ScopedController, TenantContextIds, WhoAsks } from '../support/modules/scoped';

const directory = mkdtempSync(join(tmpdir(), 'resource-api-env-'));
const envFile = join(directory, 'mailer.env');
writeFileSync(envFile, 'MAILER_PORT=2525\n');

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  delete process.env.MAILER_PORT;
});

const mailer = registerAs('mailer', () => ({ host: 'mail.example.com' }));

@Controller('settings-of-mailer')
@Public()
class MailerController {
  constructor(
    private readonly config: ConfigService,
    @Inject(mailer.KEY) private readonly own: ConfigType<typeof mailer>,
    private readonly jwt: JwtService,
  ) {}

  @Get()
  get(): object {
    return { host: this.config.get('mailer.host'), port: this.config.get('MAILER_PORT'), own: this.own.host };
  }

  @Get('tokens')
  async tokens(): Promise<object> {
    const token = await this.jwt.signAsync({ invited: 7, sub: '1' });
    return { token, claims: await this.jwt.verifyAsync<object>(token) };
  }
}

@Module({
  imports: [
    ConfigModule.forRoot({ envFilePath: envFile }),
    ConfigModule.forFeature(mailer),
    JwtModule.register({ secret: 'another secret of at least 32 bytes', signOptions: { expiresIn: '1h' } }),
  ],
  controllers: [MailerController],
})
class MailerModule {}

@Entity('reports')
class Report extends ResourceEntity {
  @Column('text')
  title: string;
}

class ReportDto extends ResourceDto {
  @Allow()
  title: string;
}

class NewReportDto {
  @Allow()
  title: string;
}

class ListReportsQuery extends ListQueryOf(ReportDto, { sortable: ['id'] }) {}

const toDto = (report: Report) => resourceOf<ReportDto>(report, { title: report.title });

@Controller('reports')
@Public()
class ReportsController {
  constructor(
    @InjectDataSource('reports') private readonly database: DataSource,
    @InjectRepository(Report, 'reports') private readonly reports: Repository<Report>,
    private readonly ours: EntityManager,
  ) {}

  @Post()
  @Idempotent()
  async create(@Body() { title }: NewReportDto): Promise<object> {
    await insertRow(this.ours, Product, { name: title, price: 1 });
    return this.database.transaction(async (manager) => toDto(await insertRow(manager, Report, { title })));
  }

  @Get()
  @AnswersPage(ReportDto)
  async list(@Query() query: ListReportsQuery): Promise<Page<object>> {
    return (await paginate(this.reports, query, {})).map(toDto);
  }

  @Get(':id')
  async get(@Param('id') id: string): Promise<object> {
    const extended = this.reports.extend({
      titled(title: string) {
        return (this as Repository<Report>).findBy({ title });
      },
    });
    const report = await readRow(this.reports.manager, Report, Number(id));
    return { title: report.title, same: (await extended.titled(report.title)).length };
  }
}

let url: string;

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      name: 'reports',
      useFactory: () => ({ type: 'postgres', url, entities: [Report], synchronize: false }),
    }),
    TypeOrmModule.forFeature([Report], 'reports'),
  ],
  controllers: [ReportsController],
})
class ReportsModule {}

const heard: string[] = [];

@Injectable()
class Listener {
  @OnEvent('told')
  onTold(what: string): void {
    heard.push(what);
  }
}

@Controller('events')
@Public()
class EventsController {
  constructor(private readonly events: EventEmitter2) {}

  @Post()
  @Idempotent()
  create(): object {
    this.events.emit('told', 'once');
    return {};
  }
}

@Module({
  imports: [EventEmitterModule.forRoot()],
  controllers: [ScopedController, DurableController, EventsController],
  providers: [WhoAsks, OfTenant, Listener],
})
class ScopedModule {}

describe("What Nest's packages bring", () => {
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await cloneTemplate();
    ({ url, drop } = database);
    const prepared = await new DataSource({
      type: 'postgres',
      url,
      entities: [Report],
      synchronize: false,
    }).initialize();
    await prepared.synchronize();
    await prepared.destroy();
  });

  const api = useTestApi({
    imports: [MailerModule, ReportsModule, ScopedModule],
    prepare: () => ContextIdFactory.apply(new TenantContextIds()),
  });

  afterAll(async () => {
    ContextIdFactory.apply({ attach: (contextId: object) => () => contextId } as never);
    await drop();
  });

  it('has settings of its own, by a file, a name and registerAs(), beside those of the service', async () => {
    const expected = { host: 'mail.example.com', port: '2525', own: 'mail.example.com' };
    expect((await api.get('/settings-of-mailer')).body.data).toEqual(expected);
  });

  it('signs tokens with a secret of its own, which give nobody access', async () => {
    const { token, claims } = (await api.get('/settings-of-mailer/tokens')).body.data;

    expect(claims).toMatchObject({ invited: 7 });
    expect((await api.as({ token }).get('/users/profile')).status).toBe(401);
  });

  it('reads and writes a second database, also by the helpers for rows, in transactions of its own', async () => {
    const headers = { 'Idempotency-Key': 'report' };
    const { status, body } = await api.post('/reports', { title: 'first' }, headers);
    expect([status, body.data.title]).toEqual([201, 'first']);
    expect((await api.post('/reports', { title: 'first' }, headers)).headers.get('idempotent-replayed')).toBe('true');

    const lists = await Promise.all(times(3, () => api.get('/reports')));
    for (const list of lists) expect([list.status, list.body.pagination.total]).toEqual([200, 1]);
    expect((await api.get(`/reports/${body.data.id}`)).body.data).toEqual({ title: 'first', same: 1 });
    expect((await api.get('/reports/999')).status).toBe(404);
    expect(await api.repository(Product).countBy({ name: 'first' })).toBe(1);
    expect(api.app.nest.get<DataSource>(getDataSourceToken('reports')).isInitialized).toBe(true);
  });

  it('makes providers for each request, which know it and its caller', async () => {
    const users = await Promise.all(times(3, () => api.user()));
    const answers = await Promise.all(users.map((user) => api.as(user).get('/scoped')));

    expect(answers.map(({ body }) => body.data.user)).toEqual(users.map(({ id }) => id));
    for (const { body, headers } of answers) expect(body.data.request).toBe(headers.get('x-request-id'));
    const [user] = users;
    const keyed = await api.as(user).post('/scoped', undefined, { 'Idempotency-Key': 'scoped' });
    expect([keyed.status, keyed.body.data]).toEqual([201, { user: user.id }]);
    expect((await api.get('/scoped')).status).toBe(401);
  });

  it('makes durable providers once for each tenant', async () => {
    const ask = async (tenant: string) => (await api.get('/durable', { 'X-Tenant': tenant })).body.data;
    const [acme, again, umbrella] = [await ask('acme'), await ask('acme'), await ask('umbrella')];

    expect(again).toEqual(acme);
    expect([acme.tenant, umbrella.tenant]).toEqual(['acme', 'umbrella']);
    expect(umbrella.number).not.toBe(acme.number);
  });

  it('tells listeners of events of a request with a key once', async () => {
    const headers = { 'Idempotency-Key': 'told' };
    await api.post('/events', undefined, headers);
    await api.post('/events', undefined, headers);

    expect(heard).toEqual(['once']);
  });
});
