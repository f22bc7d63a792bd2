import { Controller, Get, Module, Query } from '@nestjs/common';
import { OmitType } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, Repository } from 'typeorm';
import {
  Answers,
  AnswersPage,
  type Caller,
  CurrentUser,
  Id,
  IdParam,
  includable,
  Includes,
  ListQueryOf,
  type Page,
  paginate,
  Public,
  readRow,
  ResourceDto,
  ResourceEntity,
  resourceOf,
  Role,
  SortableBy,
  Text,
} from '../../../src/platform';
import { includedOrder } from '../../../src/resources/orders/order.dto';
import { includedProduct } from '../../../src/resources/products/product.dto';

@Entity('parcels')
@SortableBy('product_id')
export class Parcel extends ResourceEntity {
  @Column('bigint')
  product_id: number;

  @Column({ type: 'bigint', nullable: true })
  order_id: number | null;

  @Column({ type: 'bigint', nullable: true })
  crate_id: number | null;
}

/** TypeORM has to read it, because a column is converted. */
@Entity('parcel_marks')
@SortableBy('parcel_id')
export class ParcelMark extends ResourceEntity {
  @Column('bigint')
  parcel_id: number;

  @Column({ type: 'text', transformer: { from: (text: string) => text.toUpperCase(), to: (text: string) => text } })
  text: string;
}

/** Includes a product that anybody may read, and an order that only its buyer may read. */
@Includes({ product: includedProduct, order: includedOrder, crate: () => includedParcel })
export class ParcelDto extends ResourceDto {
  @Id()
  product_id: number;

  @Id({ nullable: true })
  order_id: number | null;

  /** The parcel in which this one is. */
  @Id({ nullable: true })
  crate_id: number | null;
}

class ParcelMarkDto extends ResourceDto {
  @Id()
  parcel_id: number;

  @Text({ max: 1_000_000 })
  text: string;
}

export class ListParcelsQuery extends ListQueryOf(ParcelDto, { sortable: Parcel }) {}

class ListFewQuery extends OmitType(ListQueryOf(ParcelDto, { sortable: Parcel }), ['search', 'sort', 'sortBy']) {}

const toParcelDto = (parcel: Parcel): ParcelDto =>
  resourceOf(parcel, { product_id: parcel.product_id, order_id: parcel.order_id, crate_id: parcel.crate_id });

const includedParcel = includable(Parcel, ParcelDto, { readers: 'everyone', toDto: toParcelDto });

/** Only administrators may read the marks of a parcel. */
export const includedMark = includable(ParcelMark, ParcelMarkDto, {
  readers: Role.ADMIN,
  toDto: (mark) => resourceOf<ParcelMarkDto>(mark, { parcel_id: mark.parcel_id, text: mark.text }),
  belongsTo: { rows: includedParcel, as: 'marks', by: 'parcel_id', list: (id) => `parcel-marks?parcelId=${id}` },
});

class Leaflet {
  constructor(
    readonly id: number,
    readonly secret: string,
  ) {}
}

/** A representation that an interceptor would reduce. */
const includedLeaflet = includable(Parcel, ParcelDto, { readers: 'everyone', toDto: ({ id }) => new Leaflet(id, 'x') });

@Includes({ leaflet: includedLeaflet })
class LetterDto extends ResourceDto {
  @Id()
  leaflet_id: number;
}

@Controller('parcels')
@Public()
class ParcelsController {
  constructor(@InjectRepository(Parcel) private readonly parcels: Repository<Parcel>) {}

  @Get()
  @AnswersPage(ParcelDto)
  async list(@Query() query: ListParcelsQuery): Promise<Page<object>> {
    return (await paginate(this.parcels, query)).map(toParcelDto);
  }

  /** A list with fewer parameters, and without a DTO that `@AnswersPage()` says. */
  @Get('few')
  @AnswersPage(ParcelDto)
  async few(@Query() query: ListFewQuery): Promise<Page<object>> {
    return (await paginate(this.parcels, query as ListParcelsQuery)).map(toParcelDto);
  }

  /** A parameter of its own, of the same name. */
  @Get('own')
  @Answers(ParcelDto)
  own(@Query('include') include: string): object {
    return { id: 1, include };
  }

  @Get('letter')
  @Answers(LetterDto)
  letter(): object {
    return { id: 1, leaflet_id: 1 };
  }

  /** Lacks the attribute by which rows are found. */
  @Get('torn')
  @Answers(ParcelDto)
  torn(): object {
    return { id: 1 };
  }

  @Get(':id')
  @Answers(ParcelDto)
  async get(@IdParam() id: number, @CurrentUser() _caller?: Caller): Promise<ParcelDto> {
    return toParcelDto(await readRow(this.parcels.manager, Parcel, id));
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Parcel, ParcelMark])], controllers: [ParcelsController] })
export class ParcelsModule {}

/** Makes the tables of the module, as a migration would. */
export async function makeParcels(database: DataSource): Promise<void> {
  const { upQueries } = await database.driver.createSchemaBuilder().log();
  for (const { query } of upQueries) await database.query(query);
}
