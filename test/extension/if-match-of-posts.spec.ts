import { Controller, Get, HttpCode, Module, Post, Sse, type Type } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { type Observable, of } from 'rxjs';
import { Column, DataSource, Entity, Repository } from 'typeorm';
import {
  Answers,
  Creates,
  IdParam,
  IfMatch,
  type Precondition,
  Public,
  requireExpected,
  ResourceDto,
  ResourceEntity,
  resourceOf,
  updateRow,
  Whole,
} from '../../src/platform';
import { type Answer, expectError } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

@Entity('valves')
class Valve extends ResourceEntity {
  @Column()
  turns: number;
}

class ValveDto extends ResourceDto {
  @Whole()
  turns: number;
}

@Controller('valves')
@Public()
class ValvesController {
  constructor(@InjectRepository(Valve) private readonly valves: Repository<Valve>) {}

  @Get(':id')
  @Answers(ValveDto)
  async get(@IdParam() id: number): Promise<ValveDto> {
    const valve = await this.valves.findOneByOrFail({ id });
    return resourceOf<ValveDto>(valve, { turns: valve.turns });
  }

  @Post(':id/open')
  @HttpCode(200)
  @Answers(ValveDto)
  async open(@IdParam() id: number, @IfMatch() expected?: Precondition): Promise<ValveDto> {
    await updateRow(this.valves.manager, Valve, id, { turns: 9 }, expected);
    return this.get(id);
  }

  @Post(':id/open-with-a-key')
  @Creates(ValveDto)
  async openOnce(@IdParam() id: number, @IfMatch() expected?: Precondition): Promise<ValveDto> {
    requireExpected(await this.valves.findOneByOrFail({ id }), expected);
    await updateRow(this.valves.manager, Valve, id, { turns: 9 });
    return this.get(id);
  }

  /** The argument isn't passed on: the first row that is written is compared. */
  @Post(':id/open-by-save')
  @HttpCode(200)
  @Answers(ValveDto)
  async openBySave(@IdParam() id: number, @IfMatch() _expected?: Precondition): Promise<ValveDto> {
    await this.valves.save({ ...(await this.valves.findOneByOrFail({ id })), turns: 9 });
    return this.get(id);
  }

  @Post(':id/open-anyway')
  @HttpCode(200)
  @Answers(ValveDto)
  async openAnyway(@IdParam() id: number): Promise<ValveDto> {
    await updateRow(this.valves.manager, Valve, id, { turns: 9 });
    return this.get(id);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Valve])], controllers: [ValvesController] })
class ValvesModule {}

describe('A POST whose handler takes @IfMatch()', () => {
  const api = useTestApi({ imports: [ValvesModule] });
  const valves = () => api.repository(Valve);
  const seen = ({ status, headers }: Answer) => [status, headers.get('etag')];

  beforeAll(async () => {
    const database = api.app.nest.get(DataSource);
    const { upQueries } = await database.driver.createSchemaBuilder().log();
    for (const { query } of upQueries.filter((one) => one.query.includes('"valves"'))) await database.query(query);
    await database.query(
      'CREATE TRIGGER valves_touch BEFORE UPDATE ON valves FOR EACH ROW EXECUTE FUNCTION touch_row()',
    );
  });

  async function aValve(): Promise<{ id: number; path: string }> {
    const { id } = await valves().save({ turns: 0 });
    return { id, path: `/valves/${id}` };
  }

  it.each(['open', 'open-with-a-key', 'open-by-save'])('has its precondition compared: %s', async (way) => {
    const { id, path } = await aValve();
    for (const [name, tag] of [
      ['If-Match', '"77"'],
      ['If-None-Match', '"1"'],
      ['If-None-Match', '*'],
    ]) {
      const refused = await api.with({ [name]: tag }).post(`${path}/${way}`);
      expectError(refused, 'PRECONDITION_FAILED');
      expect(refused.headers.get('etag')).toBe('"1"');
    }
    expect((await valves().findOneByOrFail({ id })).turns).toBe(0);

    const success = way === 'open-with-a-key' ? 201 : 200;
    expect(seen(await api.with({ 'If-Match': '"1"' }).post(`${path}/${way}`))).toEqual([success, '"2"']);
    expect((await api.with({ 'If-Match': '*' }).post(`${path}/${way}`)).status).toBe(success);
    expect((await api.post(`${path}/${way}`)).status).toBe(success);
    expectError(await api.with({ 'If-Match': '"1"' }).post(`/valves/999999/${way}`), 'NOT_FOUND');
  });

  it('leaves its key free when it is refused, and gets its first answer again when it is not', async () => {
    const { id, path } = await aValve();
    const send = (tag: string) =>
      api.with({ 'If-Match': tag, 'Idempotency-Key': `valve ${id}` }).post(`${path}/open-with-a-key`);

    expectError(await send('"77"'), 'PRECONDITION_FAILED');
    expect(seen(await send('"1"'))).toEqual([201, '"2"']);
    expect(seen(await send('"1"'))).toEqual([201, '"2"']);
    expect((await valves().findOneByOrFail({ id })).version).toBe(2);
  });

  it('differs from one whose handler does not: that one ignores the header', async () => {
    const { path } = await aValve();
    expect(seen(await api.with({ 'If-Match': '"77"' }).post(`${path}/open-anyway`))).toEqual([200, '"2"']);
  });

  it('is documented with the header and 412', async () => {
    const { paths } = (await api.get('//docs/json')).body as {
      paths: Record<string, { post: { parameters: { name: string }[]; responses: object } }>;
    };
    const ofPath = (way: string) => {
      const { parameters, responses } = paths[`/api/v1/valves/{id}/${way}`].post;
      return [parameters.map(({ name }) => name), Object.keys(responses).includes('412')];
    };
    expect(ofPath('open')).toEqual([['id', 'If-Match', 'Idempotency-Key'], true]);
    expect(ofPath('open-with-a-key')).toEqual([['id', 'If-Match', 'Idempotency-Key'], true]);
    expect(ofPath('open-anyway')).toEqual([['id', 'Idempotency-Key'], false]);
  });
});

describe('@IfMatch() of a handler that only reads', () => {
  @Controller('gauges')
  @Public()
  class GaugesController {
    @Get()
    read(@IfMatch() expected?: Precondition): object {
      return { expected };
    }
  }

  @Controller('gauges')
  @Public()
  class StreamsController {
    @Sse()
    stream(@IfMatch() _expected?: Precondition): Observable<object> {
      return of({ data: 1 });
    }
  }

  it.each([
    ['GET', GaugesController, 'GaugesController.read'],
    ['a stream', StreamsController, 'StreamsController.stream'],
  ])('stops the start: %s', async (_name, controller: Type, name) => {
    @Module({ controllers: [controller] })
    class GaugesModule {}
    const start = startApp({ imports: [GaugesModule] }).then((app) => app.stop());

    await expect(start).rejects.toThrow(new RegExp(`take @IfMatch\\(\\), which is undefined.+${name}`, 's'));
  });
});
