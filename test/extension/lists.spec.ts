import { Controller, Get, Module, Query } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsInt, IsISO8601, IsOptional, IsUUID, Max, Min } from 'class-validator';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  Repository,
  ViewColumn,
  ViewEntity,
  VirtualColumn,
} from 'typeorm';
import {
  AnswersPage,
  BooleanParameter,
  DateParameter,
  DecimalParameter,
  EnumParameter,
  Id,
  ListQueryOf,
  MomentParameter,
  type Page,
  paginate,
  type PaginateOptions,
  Public,
  ResourceDto,
  ResourceEntity,
  resourceOf,
  Text,
  UuidParameter,
} from '../../src/platform';
import { expectError } from '../support/expectations';
import { Document } from '../support/openapi';
import { times, useTestApi } from '../support/test-api';

enum Level {
  GOLD = 'GOLD',
  SILVER = 'SILVER',
}

@Entity('branch_offices')
class BranchOffice extends ResourceEntity {
  @Column()
  city: string;
}

@Entity('member_tags')
class MemberTag extends ResourceEntity {
  @Column()
  text: string;
}

@Entity('club_members')
class ClubMember extends ResourceEntity {
  @Column()
  name: string;

  @VirtualColumn({ query: (alias) => `SELECT length(${alias}.name)` })
  letters: number;

  @Column({ default: true })
  active: boolean;

  @Column({ name: 'birthday', type: 'date' })
  born_on: string;

  @Column('timestamptz')
  joined_at: Date;

  @Column({ type: 'enum', enum: Level })
  level: Level;

  @Column('uuid')
  reference: string;

  @Column({ type: 'numeric', precision: 9, scale: 4 })
  rate: number;

  @Column('bigint')
  office_id: number;

  @ManyToOne(() => BranchOffice)
  @JoinColumn({ name: 'office_id' })
  office: BranchOffice;

  @ManyToMany(() => MemberTag)
  @JoinTable({ name: 'tags_of_members' })
  tags: MemberTag[];

  @DeleteDateColumn({ name: 'removed_on' })
  removedOn: Date | null;
}

/** A table of somebody else's, say: no dates and no version. */
@Entity('old_members')
class OldMember {
  @Column({ type: 'bigint', primary: true, generated: 'identity', generatedIdentity: 'BY DEFAULT' })
  id: number;

  @Column()
  name: string;
}

@ViewEntity('member_names', { expression: 'SELECT id AS number, name FROM old_members' })
class MemberName {
  @ViewColumn()
  number: number;

  @ViewColumn()
  name: string;
}

class ClubMemberDto extends ResourceDto {
  @Text({ max: 50 })
  name: string;

  @Id()
  office_id: number;

  @ApiProperty({ type: [Number] })
  tag_ids: number[];
}

class ListMembersQuery extends ListQueryOf(ClubMemberDto, { sortable: ['id', 'name', 'born_on', 'rate', 'level'] }) {
  @BooleanParameter('Only members who are, or are not.')
  active?: boolean;

  @DateParameter('Only members who were born before.')
  born_before?: string;

  @MomentParameter('Only members who joined since.')
  joined_since?: Date;

  @EnumParameter(Level, 'Only members of this level.')
  level?: Level;

  @UuidParameter('Only the member with this reference.')
  reference?: string;

  @DecimalParameter({ min: -10, max: 99_999, decimals: 4, description: 'Only members with at least this rate.' })
  rate_from?: number;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(12)
  born_in_month?: number;

  @IsOptional()
  @IsISO8601({ strict: true })
  born_after?: string;

  @IsOptional()
  @IsUUID()
  other_than?: string;
}

class PlainDto {
  @Text({ max: 50 })
  name: string;
}

class ListPlainQuery extends ListQueryOf(PlainDto, { sortable: ['id', 'name'] }) {}
class ListVirtualQuery extends ListQueryOf(ClubMemberDto, { sortable: ['id', 'letters'] }) {}
class ListJoinedQuery extends ListQueryOf(ClubMemberDto, { sortable: ['id', 'office.city'] }) {}

const optionsOf: Record<string, PaginateOptions<ClubMember>> = {
  plain: {},
  filter: { filter: { level: Level.GOLD } },
  where: { where: (builder) => builder.andWhere('resource.rate >= 0') },
  include: { include: { tags: 'id' } },
};

const toDto = (member: ClubMember) =>
  resourceOf<ClubMemberDto>(member, {
    name: member.name,
    office_id: member.office_id,
    tag_ids: (member.tags ?? []).map(({ id }) => id),
  });

@Controller('club-members')
@Public()
class ClubMembersController {
  constructor(
    @InjectRepository(ClubMember) private readonly members: Repository<ClubMember>,
    @InjectRepository(OldMember) private readonly old: Repository<OldMember>,
    @InjectRepository(MemberName) private readonly names: Repository<MemberName>,
  ) {}

  @Get()
  @AnswersPage(ClubMemberDto)
  async list(@Query() query: ListMembersQuery): Promise<Page<object>> {
    const { active, level, reference } = query;
    const page = await paginate(this.members, query, {
      searchable: ['name'],
      filter: { active, level, reference },
      where: (builder) => {
        const { born_before, joined_since, rate_from, born_in_month, born_after, other_than } = query;
        if (born_before !== undefined) builder.andWhere('resource.born_on < :born_before', { born_before });
        if (joined_since !== undefined) builder.andWhere('resource.joined_at >= :joined_since', { joined_since });
        if (rate_from !== undefined) builder.andWhere('resource.rate >= :rate_from', { rate_from });
        if (born_after !== undefined) builder.andWhere('resource.born_on > :born_after', { born_after });
        if (other_than !== undefined) builder.andWhere('resource.reference <> :other_than', { other_than });
        if (born_in_month !== undefined)
          builder.andWhere('extract(month FROM resource.born_on) = :born_in_month', { born_in_month });
      },
    });
    return page.map(toDto);
  }

  @Get('filtered')
  @AnswersPage(ClubMemberDto)
  async filtered(@Query() query: ListMembersQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, { ...optionsOf.filter, searchable: ['name'] })).map(toDto);
  }

  @Get('tagged')
  @AnswersPage(ClubMemberDto)
  async tagged(@Query() query: ListMembersQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, optionsOf.include)).map(toDto);
  }

  @Get('joined')
  @AnswersPage(ClubMemberDto)
  async joined(@Query() query: ListJoinedQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, {})).map(toDto);
  }

  @Get('by-virtual')
  @AnswersPage(ClubMemberDto)
  async byVirtual(@Query() query: ListVirtualQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, {})).map(toDto);
  }

  @Get('wrongly-included')
  @AnswersPage(ClubMemberDto)
  async wronglyIncluded(@Query() query: ListMembersQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, { include: { tag_ids: 'id' } as never })).map(toDto);
  }

  @Get('wrongly-ordered')
  @AnswersPage(ClubMemberDto)
  async wronglyOrdered(@Query() query: ListMembersQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, { include: { tags: 'name' } })).map(toDto);
  }

  @Get('wrongly-searched')
  @AnswersPage(ClubMemberDto)
  async wronglySearched(@Query() query: ListMembersQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, { searchable: ['tag_ids'] as never })).map(toDto);
  }

  @Get('wrongly-filtered')
  @AnswersPage(ClubMemberDto)
  async wronglyFiltered(@Query() query: ListMembersQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, { filter: { colour: 'red' } as never })).map(toDto);
  }

  @Get('old')
  @AnswersPage(PlainDto)
  async oldOnes(@Query() query: ListPlainQuery): Promise<Page<object>> {
    return (await paginate(this.old, query, { searchable: ['name'] })).map(({ id, name }) => ({ id, name }));
  }

  @Get('names')
  @AnswersPage(PlainDto)
  async memberNames(@Query() query: ListPlainQuery): Promise<Page<object>> {
    return (await paginate(this.names as never, query, {})).map((name) => name);
  }
}

const entities = [ClubMember, BranchOffice, MemberTag, OldMember, MemberName];
@Module({ imports: [TypeOrmModule.forFeature(entities)], controllers: [ClubMembersController] })
class ClubMembersModule {}

describe('A list of a team’s own', () => {
  const api = useTestApi({ imports: [ClubMembersModule] });
  const manager = () => api.app.nest.get(DataSource).manager;
  let ids: number[];
  let tagIds: number[];

  beforeAll(async () => {
    await api.app.nest.get(DataSource).synchronize();
    const offices = await manager().save(BranchOffice, [{ city: 'Bern' }, { city: 'Aachen' }]);
    const tags = await manager().save(MemberTag, [{ text: 'a' }, { text: 'b' }]);
    tagIds = tags.map(({ id }) => id);
    const members = times(6, (index) => ({
      name: `Member ${index % 3}`,
      active: index % 2 === 0,
      born_on: `200${index}-0${index + 1}-15`,
      joined_at: new Date(`2020-01-0${index + 1}T12:00:00Z`),
      level: index < 2 ? Level.GOLD : Level.SILVER,
      reference: `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1${index}`,
      rate: index + 0.0625,
      office_id: offices[index % 2].id,
      tags: index === 0 ? tags : [],
      removedOn: index === 5 ? new Date() : null,
    }));
    ids = (await manager().save(ClubMember, members)).map(({ id }) => id);
    await manager().save(
      OldMember,
      times(5, (index) => ({ name: `Old ${index % 2}` })),
    );
  });

  const list = (path: string, version = 1) => api.get(`//api/v${version}/club-members${path}`);
  const shown = async (path: string, version = 1) => {
    const answer = await list(path, version);
    expect([path, answer.status]).toEqual([path, 200]);
    return (answer.body.data as { id: number }[]).map(({ id }) => ids.indexOf(id));
  };

  /** All pages of two, one after the other. */
  async function walk(path: string): Promise<object[]> {
    const items: object[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await list(`${path}${path.includes('?') ? '&' : '?'}size=2${cursor}`, 2);
      expect([path, status]).toEqual([path, 200]);
      items.push(...body.data);
      expect(items.length).toBeLessThan(20);
      if (body.pagination.next === null) return items;
      cursor = `&cursor=${body.pagination.next}`;
    }
  }

  it.each(['', '/filtered', '/tagged'])('hides what a renamed column says is deleted: %s', async (path) => {
    const expected = path === '/filtered' ? [0, 1] : [0, 1, 2, 3, 4];
    const search = path === '/tagged' ? '' : '&search=member';
    for (const query of ['?sort=id', '?sort=id&fields=id', '?sort=born_on', `?sort=rate${search}`]) {
      expect([query, await shown(`${path}${query}`)]).toEqual([query, expected]);
      expect([query, await shown(`${path}${query}`, 2)]).toEqual([query, expected]);
      const { pagination } = (await list(`${path}${query}&size=1`)).body;
      expect(pagination.total).toBe(expected.length);
    }
    const all = (await walk(`${path}?sort=name&order=desc`)) as { id: number }[];
    expect(all.map(({ id }) => ids.indexOf(id)).sort()).toEqual(expected);
  });

  it('needs neither dates nor a version', async () => {
    for (const query of ['?sort=name', '?search=old', '?fields=name&sort=name']) {
      expect([query, (await walk(`/old${query}`)).length]).toEqual([query, 5]);
      expect((await list(`/old${query}`)).body.pagination.total).toBe(5);
    }
  });

  it.each([
    ['active=true', [0, 2, 4]],
    ['active=false', [1, 3]],
    ['born_before=2002-03-15', [0, 1]],
    ['joined_since=2020-01-04T13:00:00%2B01:00', [3, 4]],
    ['joined_since=2020-01-04T12:00:00.001Z', [4]],
    ['level=GOLD', [0, 1]],
    ['reference=A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12', [2]],
    ['rate_from=3.0625', [3, 4]],
    ['rate_from=-1.5', [0, 1, 2, 3, 4]],
    ['born_in_month=2', [1]],
    ['born_after=2003-12-31', [4]],
    ['other_than=a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a10', [1, 2, 3, 4]],
  ])('takes parameters of other types: %s', async (query, expected) => {
    for (const version of [1, 2]) expect(await shown(`?${query}`, version)).toEqual(expected);
    const all = (await walk(`?sort=name&${query}`)) as { id: number }[];
    expect(all.map(({ id }) => ids.indexOf(id)).sort()).toEqual(expected);
  });

  it.each([
    ['active=yes', 'active', 'boolean', 'must be true or false'],
    ['active=1', 'active', 'boolean', 'must be true or false'],
    ['active=', 'active', 'boolean', 'must be true or false'],
    ['born_before=2026-02-29', 'born_before', 'date', 'must be a day like 2026-01-31'],
    ['born_before=0000-01-01', 'born_before', 'date', 'must be a day like 2026-01-31'],
    ['born_before=2026-1-1', 'born_before', 'date', 'must be a day like 2026-01-31'],
    ['joined_since=2026-01-31', 'joined_since', 'moment', expect.stringContaining('2026-01-31T12:00:00Z')],
    ['joined_since=2026-01-31T12:00:00', 'joined_since', 'moment', expect.stringContaining('with a time zone')],
    ['joined_since=2026-02-30T12:00:00Z', 'joined_since', 'moment', expect.anything()],
    ['joined_since=2026-01-31T24:00:00Z', 'joined_since', 'moment', expect.anything()],
    ['joined_since=2026-01-31T12:00:00%2B25:00', 'joined_since', 'moment', expect.anything()],
    ['level=gold', 'level', 'enum', 'must be one of GOLD, SILVER'],
    ['reference=1', 'reference', 'uuid', 'must be a UUID'],
    ['rate_from=1e3', 'rate_from', 'decimal', 'must be a number from -10 to 99999 with at most 4 decimals'],
    ['rate_from=0.00001', 'rate_from', 'decimal', expect.anything()],
    ['rate_from=99999.5', 'rate_from', 'decimal', expect.anything()],
    ['rate_from=01', 'rate_from', 'decimal', expect.anything()],
    ['born_in_month=13', 'born_in_month', 'range', expect.anything()],
    ['born_in_month=x', 'born_in_month', 'range', expect.anything()],
    ['born_after=2003-13-01', 'born_after', 'iso', expect.anything()],
    ['other_than=1', 'other_than', 'uuid', expect.anything()],
    ['active=true&active=true', 'active', 'once', expect.anything()],
  ])('refuses parameters of other types with words: %s', async (query, field, rule, message) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.fields).toContainEqual({ field, rule, message });
  });

  it('documents them', async () => {
    const document = new Document((await api.get('//docs/json')).body);
    const parameters = document.operations.find(({ name }) => name === 'GET /api/v1/club-members')!.spec.parameters;
    const schemas = Object.fromEntries(
      (parameters as { name: string; schema: object; required?: boolean }[]).map((one) => [one.name, one]),
    );
    expect(schemas.active).toMatchObject({ required: false, schema: { type: 'boolean' } });
    expect(schemas.born_before).toMatchObject({ required: false, schema: { type: 'string', format: 'date' } });
    expect(schemas.joined_since).toMatchObject({ required: false, schema: { type: 'string', format: 'date-time' } });
    expect(schemas.level).toMatchObject({ required: false, schema: { type: 'string', enum: ['GOLD', 'SILVER'] } });
    expect(schemas.reference).toMatchObject({ required: false, schema: { type: 'string', format: 'uuid' } });
    expect(schemas.rate_from).toMatchObject({ schema: { type: 'number', minimum: -10, maximum: 99_999 } });
    for (const { name, schema } of parameters) {
      for (const example of schema.examples ?? [])
        expect([name, document.violations(schema, example)]).toEqual([name, []]);
    }
  });

  it('keeps a cursor to its parameters', async () => {
    const { pagination } = (await list('?active=true&size=1', 2)).body;
    const other = await list(`?active=false&size=1&cursor=${pagination.next}`, 2);
    expectError(other, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
  });

  it.each(['name,born_on', 'name,-born_on', '-name', 'office.city', 'office_id', 'name;desc'])(
    'sorts by one attribute of its own: not by %s',
    async (sort) => {
      const { fields } = expectError(await list(`?sort=${sort}`), 'VALIDATION_ERROR');
      const message = 'must be one of id, name, born_on, rate, level; it is one attribute, and `order` its direction';
      expect(fields).toEqual([{ field: 'sort', rule: 'enum', message }]);
    },
  );

  it('shows what is made of an included relation, whatever its own name', async () => {
    for (const [query, keys] of [
      ['?fields=id,tag_ids', ['id', 'tag_ids']],
      ['?fields=tag_ids', ['tag_ids']],
    ] as const) {
      const [first] = (await list(`/tagged${query}&size=1`)).body.data;
      expect(Object.keys(first as object)).toEqual(keys);
      expect(first.tag_ids).toEqual(tagIds);
    }
    expect((await list('/tagged?fields=id,name&size=1')).body.data).toEqual([{ id: ids[0], name: 'Member 0' }]);
  });

  it.each([
    ['names', 'MemberName has no column for id, which a list needs'],
    ['joined', 'A list sorts ClubMember by office.city, which is none of its columns'],
    ['by-virtual', 'A list sorts ClubMember by letters, which'],
    ['wrongly-included', 'includes tag_ids, which is no relation of ClubMember; it has office, tags'],
    ['wrongly-ordered', 'sorts tags by name, which is no column of MemberTag'],
    ['wrongly-searched', 'searches tag_ids, which is no column of ClubMember'],
    ['wrongly-filtered', 'filters by colour, which is no column of ClubMember'],
  ])('is refused at the first call, with the reason: %s', async (path, reason) => {
    for (const version of [1, 2]) {
      const { log } = api.app;
      log.splice(0);
      expectError(await list(`/${path}`, version), 'INTERNAL_ERROR');
      expect(JSON.stringify(log)).toContain(reason);
    }
  });
});
