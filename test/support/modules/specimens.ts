import { Body, Controller, Delete, Get, Module, Patch, Post, Put, Query } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, Repository } from 'typeorm';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  ApiResource,
  countRows,
  Creates,
  deleteRow,
  IdParam,
  insertRow,
  linkRows,
  type Page,
  paginate,
  Public,
  readRow,
  updateRow,
} from '../../../src/platform';
import { findCountedTables } from '../../../src/platform/rows/counted-tables';
import { CreateSpecimenDto, ListSpecimensQuery, PatchSpecimenDto, SpecimenDto, toSpecimenDto } from './specimens.dto';
import { Specimen } from './specimens.entity';

/** A resource with an attribute of each kind, which no resource of the service has. */
@ApiResource('Specimens', 'One of each kind.')
@Controller('specimens')
@Public()
class SpecimensController {
  constructor(@InjectRepository(Specimen) private readonly specimens: Repository<Specimen>) {}

  @Get()
  @AnswersPage(SpecimenDto)
  async list(@Query() query: ListSpecimensQuery): Promise<Page<object>> {
    return (await paginate(this.specimens, query, {})).map(toSpecimenDto);
  }

  @Get(':id')
  @Answers(SpecimenDto)
  async get(@IdParam() id: number): Promise<SpecimenDto> {
    return toSpecimenDto(await readRow(this.specimens.manager, Specimen, id));
  }

  @Post()
  @Creates(SpecimenDto)
  async create(@Body() input: CreateSpecimenDto): Promise<SpecimenDto> {
    return toSpecimenDto(await insertRow(this.specimens.manager, Specimen, input));
  }

  @Put(':id')
  @Answers(SpecimenDto)
  async replace(@IdParam() id: number, @Body() input: CreateSpecimenDto): Promise<SpecimenDto> {
    return toSpecimenDto(await updateRow(this.specimens.manager, Specimen, id, input));
  }

  @Patch(':id')
  @Answers(SpecimenDto)
  async update(@IdParam() id: number, @Body() changes: PatchSpecimenDto): Promise<SpecimenDto> {
    return toSpecimenDto(await updateRow(this.specimens.manager, Specimen, id, changes));
  }

  @Delete(':id')
  @AnswersNothing()
  remove(@IdParam() id: number): Promise<void> {
    return deleteRow(this.specimens.manager, Specimen, id);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Specimen])], controllers: [SpecimensController] })
export class SpecimensModule {}

/**
 * Does what a migration would do: the tables of the test's own entities, the triggers, search indexes, and the count.
 * @param others further tables with a trigger
 */
export async function makeSpecimens(database: DataSource, others: string[] = []): Promise<void> {
  const { upQueries } = await database.driver.createSchemaBuilder().log();
  const runner = database.createQueryRunner();
  await runner.startTransaction();
  for (const { query } of upQueries) await runner.query(query);
  for (const table of ['specimens', ...others]) {
    await runner.query(
      `CREATE TRIGGER ${table}_touch BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION touch_row()`,
    );
  }
  for (const column of ['name', 'note']) {
    await runner.query(`CREATE INDEX specimens_${column}_search ON specimens USING gin (${column} gin_trgm_ops)`);
  }
  await linkRows(runner, { table: 'specimens', column: 'helper_ids', target: 'users' });
  await countRows(runner, 'specimens', { status: true });
  await runner.commitTransaction();
  await runner.release();
  await findCountedTables(database);
}
