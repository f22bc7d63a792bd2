import { Controller, Get, Module, Param, Query } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsInt, IsISO8601, IsOptional, IsUUID, Max, Min } from 'class-validator';
import {
  Column,
  DeleteDateColumn,
  Entity,
  IsNull,
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
} from '../../../src/platform';

export enum Level {
  GOLD = 'GOLD',
  SILVER = 'SILVER',
}

@Entity('branch_offices')
export class BranchOffice extends ResourceEntity {
  @Column()
  city: string;
}

@Entity('member_tags')
export class MemberTag extends ResourceEntity {
  @Column()
  text: string;
}

@Entity('club_members')
export class ClubMember extends ResourceEntity {
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
export class OldMember {
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

class ListMembersQuery extends ListQueryOf(ClubMemberDto, {
  sortable: ['id', 'name', 'born_on', 'rate', 'level'],
  deleted: true,
}) {
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
class ListKeptQuery extends ListQueryOf(PlainDto, { sortable: ['id'], deleted: true }) {}
class ListUntoldQuery extends ListQueryOf(ClubMemberDto, { sortable: ['id'] }) {}
class ListVirtualQuery extends ListQueryOf(ClubMemberDto, { sortable: ['id', 'letters'] }) {}
class ListJoinedQuery extends ListQueryOf(ClubMemberDto, { sortable: ['id', 'office.city'] }) {}

const optionsOf: Record<string, PaginateOptions<ClubMember>> = {
  plain: {},
  filter: { filter: { level: Level.GOLD } },
  where: { where: (builder) => builder.andWhere('resource.rate >= 0') },
  include: { include: { tags: 'id' } },
  join: { where: (builder) => builder.leftJoin('resource.tags', 'tag'), searchable: ['name'] },
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

  @Get('with-tags')
  @AnswersPage(ClubMemberDto)
  async withTags(@Query() query: ListMembersQuery): Promise<Page<object>> {
    return (await paginate(this.members, query, optionsOf.join)).map(toDto);
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

  @Get('wrongly-filtered/:by')
  wronglyFiltered(@Query() query: ListMembersQuery, @Param('by') by: string): Promise<unknown> {
    return paginate(this.members, query, { filter: { [by]: IsNull() } });
  }

  @Get('old')
  @AnswersPage(PlainDto)
  async oldOnes(@Query() query: ListPlainQuery): Promise<Page<object>> {
    return (await paginate(this.old, query, { searchable: ['name'] })).map(({ id, name }) => ({ id, name }));
  }

  @Get('wrongly-kept')
  async wronglyKept(@Query() query: ListKeptQuery): Promise<Page<object>> {
    return (await paginate(this.old, query)).map(({ id, name }) => ({ id, name }));
  }

  @Get('untold')
  async untold(@Query() query: ListUntoldQuery): Promise<Page<object>> {
    return (await paginate(this.old, query)).map(({ id, name }) => ({ id, name }));
  }

  @Get('names')
  @AnswersPage(PlainDto)
  async memberNames(@Query() query: ListPlainQuery): Promise<Page<object>> {
    return (await paginate(this.names as never, query, {})).map((name) => name);
  }
}

const entities = [ClubMember, BranchOffice, MemberTag, OldMember, MemberName];
@Module({ imports: [TypeOrmModule.forFeature(entities)], controllers: [ClubMembersController] })
export class ClubMembersModule {}
