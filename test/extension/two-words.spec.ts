import { Body, Controller, Delete, Get, HttpCode, Module, Post, Query } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Allow } from 'class-validator';
import { Check, Column, DataSource, Entity, Index, JoinColumn, ManyToOne, Repository, Unique } from 'typeorm';
import {
  AnswersPage,
  countRows,
  deleteRow,
  type FieldViolation,
  IdParam,
  insertRow,
  ListQueryOf,
  OneOf,
  type Page,
  paginate,
  Public,
  readRow,
  ResourceDto,
  ResourceEntity,
  resourceOf,
} from '../../src/platform';
import { findCountedTables } from '../../src/platform/rows/counted-tables';
import { expectError, expectSuccess, statementsOf } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

enum CreditNoteStatus {
  OPEN = 'OPEN',
  IN_TRANSIT = 'IN TRANSIT',
}

@Entity('tax_offices')
class TaxOffice extends ResourceEntity {
  @Column({ default: 'x' })
  name: string;
}

/** Constraints with names by the convention, and with those that TypeORM makes. */
@Entity('credit_notes')
@Index('credit_notes_number_unique', ['number'], { unique: true })
@Index('credit_notes_owner_vat_unique', ['vatNumber'], { unique: true })
@Unique('credit_notes_due_on_place_unique', ['due_on', 'place'])
@Check('credit_notes_tax_rate_range', 'tax_rate >= 0')
@Check('amount_cents > 0')
class CreditNote extends ResourceEntity {
  @Column({ nullable: true })
  number: string;

  @Column({ name: 'vat', nullable: true })
  vatNumber: string;

  @Column({ nullable: true, unique: true })
  external_reference: string;

  @Column({ nullable: true })
  due_on: string;

  @Column({ nullable: true })
  place: string;

  @Column({ nullable: true })
  tax_rate: number;

  @Column({ nullable: true })
  amount_cents: number;

  @Column('bigint', { nullable: true })
  tax_office_id: number;

  @ManyToOne(() => TaxOffice)
  @JoinColumn({ name: 'tax_office_id', foreignKeyConstraintName: 'credit_notes_tax_office_id_fkey' })
  tax_office: TaxOffice;

  @Column('bigint', { nullable: true })
  other_office_id: number;

  @ManyToOne(() => TaxOffice, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'other_office_id' })
  other_office: TaxOffice;

  @Column({ type: 'text', default: CreditNoteStatus.OPEN })
  status: CreditNoteStatus;
}

class CreditNoteDto extends ResourceDto {
  @OneOf(CreditNoteStatus)
  status: CreditNoteStatus;
}

class CreateCreditNoteDto {
  @Allow()
  values: Partial<CreditNote>;
}

class ListCreditNotesQuery extends ListQueryOf(CreditNoteDto, { sortable: ['id'], statuses: CreditNoteStatus }) {}

const toDto = (note: CreditNote) => resourceOf<CreditNoteDto>(note, { status: note.status });

@Controller()
@Public()
class CreditNotesController {
  constructor(@InjectRepository(CreditNote) private readonly notes: Repository<CreditNote>) {}

  @Get('credit-notes')
  @AnswersPage(CreditNoteDto)
  async list(@Query() query: ListCreditNotesQuery): Promise<Page<object>> {
    return (await paginate(this.notes, query, {})).map(toDto);
  }

  @Get('credit-notes/:id')
  async get(@IdParam() id: number): Promise<CreditNoteDto> {
    return toDto(await readRow(this.notes.manager, CreditNote, id));
  }

  @Post('credit-notes')
  async create(@Body() { values }: CreateCreditNoteDto): Promise<CreditNoteDto> {
    return toDto(await insertRow(this.notes.manager, CreditNote, values));
  }

  @Post('tax-offices/:id/credit-notes')
  async createBelow(@IdParam() id: number): Promise<CreditNoteDto> {
    return toDto(await this.notes.save({ tax_office_id: id }));
  }

  @Delete('tax-offices/:id')
  @HttpCode(204)
  remove(@IdParam() id: number): Promise<void> {
    return deleteRow(this.notes.manager, TaxOffice, id);
  }

  @Delete('tax-offices/:id/by-repository')
  @HttpCode(204)
  async removeByRepository(@IdParam() id: number): Promise<void> {
    await this.notes.manager.getRepository(TaxOffice).delete(id);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([CreditNote, TaxOffice])], controllers: [CreditNotesController] })
class CreditNotesModule {}

describe('A resource with a name of two words', () => {
  const api = useTestApi({ imports: [CreditNotesModule] });
  const database = () => api.app.nest.get(DataSource);

  beforeAll(async () => {
    const { upQueries } = await database().driver.createSchemaBuilder().log();
    for (const { query } of upQueries) await database().query(query);
    const runner = database().createQueryRunner();
    await runner.startTransaction();
    await countRows(runner, 'credit_notes', { status: true });
    await runner.commitTransaction();
    await runner.release();
    await findCountedTables(database());
  });

  const create = (values: object) => api.post('/credit-notes', { values });
  const anOffice = async () => (await insertRow(database().manager, TaxOffice, {})).id;

  it.each([
    ['number', { number: 'N' }],
    ['vatNumber', { vatNumber: 'V' }],
    ['external_reference', { external_reference: 'E' }],
    ['due_on, place', { due_on: '2026-02-28', place: 'P' }],
  ])('tells that %s is taken', async (attribute, values) => {
    expectSuccess(await create(values), 201, 'Created');
    expect(expectError(await create(values), 'CONFLICT').details).toBe(`${attribute}: is already taken`);
  });

  it('tells all values that are taken at once, and no other', async () => {
    const [one, other] = [
      await create({ number: 'N1', due_on: '2026-03-01', place: 'P1' }),
      await create({ vatNumber: 'V1' }),
    ];
    expectSuccess(one, 201, 'Created');
    expectSuccess(other, 201, 'Created');
    const unique = (field: string, message = 'is already taken') => ({ field, rule: 'unique', message });
    const fieldsOf = async (values: object) => expectError(await create(values), 'CONFLICT').fields;
    const together = unique('due_on', 'is already taken together with place');

    expect(sorted(await fieldsOf({ number: 'N1', vatNumber: 'V1', due_on: '2026-03-01', place: 'P1' }))).toEqual([
      together,
      unique('number'),
      unique('vatNumber'),
    ]);
    expect(await fieldsOf({ number: 'N1', vatNumber: 'V2', due_on: '2026-03-01', place: 'P2' })).toEqual([
      unique('number'),
    ]);
    expect(await fieldsOf({ number: 'N1', due_on: '2026-03-01' })).toEqual([unique('number')]);
  });

  it.each([
    ['tax_rate', 'range', { tax_rate: -1 }],
    ['amount_cents', 'constraint', { amount_cents: 0 }],
    ['tax_office_id', 'fkey', { tax_office_id: 999_999 }],
    ['other_office_id', 'fkey', { other_office_id: 999_999 }],
  ])('tells that %s breaks a rule', async (attribute, rule, values) => {
    expectError(await create(values), 'VALIDATION_ERROR', { fields: { [attribute]: rule } });
  });

  it.each([
    ['tax_office_id', ''],
    ['other_office_id', ''],
    ['tax_office_id', '/by-repository'],
    ['other_office_id', '/by-repository'],
  ])('keeps what its %s refers to from going away: 409, whoever deletes it%s', async (attribute, way) => {
    const id = await anOffice();
    await create({ [attribute]: id });
    const { details } = expectError(await api.delete(`/tax-offices/${id}${way}`), 'CONFLICT');
    expect(details).toBe('Something else still refers to it');
  });

  it('says where it was created, and what was not found', async () => {
    const office = await anOffice();
    for (const created of [await create({}), await api.post(`/tax-offices/${office}/credit-notes`)]) {
      const { id } = created.body.data;
      const place = created.headers.get('location');
      expect(place).toBe(`/api/v1/credit-notes/${id}`);
      expect((await api.get(`/${place}`)).body.data.id).toBe(id);
    }
    expect(expectError(await api.get('/credit-notes/999999'), 'NOT_FOUND').message).toBe('Credit note not found');
    const { paths } = (await api.get('//docs/json')).body;
    const { responses, parameters } = paths['/api/v1/credit-notes/{id}'].get;
    expect(parameters[0].description).toBe('The id of the credit note.');
    expect(responses['404'].description).toBe('Credit note not found');
  });

  it('is counted, by a status of two words as well', async () => {
    await create({ status: 'IN TRANSIT' });
    const inTransit = await database().getRepository(CreditNote).countBy({ status: CreditNoteStatus.IN_TRANSIT });
    const all = await database().getRepository(CreditNote).count();
    const sent = await statementsOf(async () => {
      expect((await api.get('/credit-notes?size=1')).body.pagination.total).toBe(all);
      expect((await api.get('/credit-notes?size=1&status=IN%20TRANSIT')).body.pagination.total).toBe(inTransit);
    });
    expect(sent.filter((text) => text.includes('row_counts')).length).toBe(2);
    expect(inTransit).toBe(1);
  });
});

const sorted = (fields: FieldViolation[] = []) =>
  [...fields].sort((one, other) => one.field.localeCompare(other.field));
