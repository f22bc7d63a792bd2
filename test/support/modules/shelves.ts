import {
  Body,
  Controller,
  Delete,
  Get,
  Module,
  Param,
  ParseEnumPipe,
  ParseUUIDPipe,
  Patch,
  Post,
  Put,
  Query,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  ApiResource,
  Creates,
  deleteRow,
  IdParam,
  insertRow,
  type Page,
  paginate,
  Public,
  readRow,
  requireReadable,
  touchRow,
  updateRow,
} from '../../../src/platform';
import { Product } from '../../../src/resources/products/product.entity';
import {
  CreateShelfDto,
  CreateSlotDto,
  ListShelvesQuery,
  ListSlotsQuery,
  PatchShelfDto,
  PatchSlotDto,
  ShelfDto,
  ShelfName,
  SlotDto,
  toShelfDto,
  toSlotDto,
} from './shelves.dto';
import { Room, Shelf, ShelvedProduct, Slot } from './shelves.entity';

const WITH_PRODUCTS = { relations: { products: true }, order: { products: { position: 'ASC' } } } as const;

/** A resource of other shapes than the service's: its table, attributes that are no columns, and parameters of paths. */
@ApiResource('Shelves', 'What has other shapes.')
@Controller('shelves')
@Public()
class ShelvesController {
  constructor(@InjectRepository(Shelf) private readonly shelves: Repository<Shelf>) {}

  @Get()
  @AnswersPage(ShelfDto)
  async list(@Query() query: ListShelvesQuery): Promise<Page<object>> {
    return (await paginate(this.shelves, query, { include: { products: 'position' } })).map(toShelfDto);
  }

  @Get('serials/:serial')
  @Answers(ShelfDto)
  getBySerial(@Param('serial', ParseUUIDPipe) serial: string): Promise<ShelfDto> {
    return this.find({ serial });
  }

  @Get('names/:slug')
  @Answers(ShelfDto)
  getByName(@Param() { slug }: ShelfName): Promise<ShelfDto> {
    return this.find({ slug });
  }

  @Get('rooms/:room')
  @Answers(ShelfDto)
  getByRoom(@Param('room', new ParseEnumPipe(Room)) room: Room): Promise<ShelfDto> {
    return this.find({ room });
  }

  @Get(':id')
  @Answers(ShelfDto)
  get(@IdParam() id: number): Promise<ShelfDto> {
    return this.find({ id });
  }

  @Post()
  @Creates(ShelfDto)
  create(@Body() { size, product_ids, ...columns }: CreateShelfDto): Promise<ShelfDto> {
    return this.shelves.manager.transaction(async (manager) => {
      const { id } = await insertRow(manager, Shelf, { ...columns, ...size });
      await put(manager, id, product_ids);
      return this.find({ id }, manager);
    });
  }

  @Put(':id')
  @Answers(ShelfDto)
  replace(@IdParam() id: number, @Body() input: CreateShelfDto): Promise<ShelfDto> {
    return this.change(id, input);
  }

  @Patch(':id')
  @Answers(ShelfDto)
  update(@IdParam() id: number, @Body() changes: PatchShelfDto): Promise<ShelfDto> {
    return this.change(id, changes);
  }

  @Delete(':id')
  @AnswersNothing()
  remove(@IdParam() id: number): Promise<void> {
    return deleteRow(this.shelves.manager, Shelf, id);
  }

  private change(id: number, { size, product_ids, ...columns }: PatchShelfDto): Promise<ShelfDto> {
    return this.shelves.manager.transaction(async (manager) => {
      await updateRow(manager, Shelf, id, { ...columns, ...size });
      const before = (await this.find({ id }, manager)).product_ids;
      if (product_ids && JSON.stringify(product_ids) !== JSON.stringify(before)) {
        await touchRow(manager, Shelf, id);
        await manager.delete(ShelvedProduct, { shelf_id: id });
        await put(manager, id, product_ids);
      }
      return this.find({ id }, manager);
    });
  }

  private async find(where: Partial<Shelf>, manager: EntityManager = this.shelves.manager): Promise<ShelfDto> {
    const { id } = await manager.findOneByOrFail(Shelf, where as { id: number });
    return toShelfDto(await manager.findOneOrFail(Shelf, { where: { id }, ...WITH_PRODUCTS }));
  }
}

async function put(manager: EntityManager, shelf_id: number, ids: number[]): Promise<void> {
  await requireReadable('product_ids', ids, (id) => readRow(manager, Product, id));
  const rows = ids.map((product_id, position) => ({ shelf_id, position, product_id }));
  if (rows.length > 0) await manager.insert(ShelvedProduct, rows);
}

@ApiResource('Slots', 'Of shelves.')
@Controller('shelves/:id/slots')
@Public()
class SlotsController {
  constructor(@InjectRepository(Slot) private readonly slots: Repository<Slot>) {}

  @Get()
  @AnswersPage(SlotDto)
  async list(@IdParam() shelf_id: number, @Query() query: ListSlotsQuery): Promise<Page<object>> {
    await this.slots.manager.findOneByOrFail(Shelf, { id: shelf_id });
    return (await paginate(this.slots, query, { filter: { shelf_id } })).map(toSlotDto);
  }

  @Get(':slotId')
  @Answers(SlotDto)
  async get(@IdParam() shelf_id: number, @IdParam('slotId') id: number): Promise<SlotDto> {
    return toSlotDto(await this.slots.findOneByOrFail({ id, shelf_id }));
  }

  @Post()
  @Creates(SlotDto)
  async create(@IdParam() shelf_id: number, @Body() input: CreateSlotDto): Promise<SlotDto> {
    await this.slots.manager.findOneByOrFail(Shelf, { id: shelf_id });
    return toSlotDto(await insertRow(this.slots.manager, Slot, { ...input, shelf_id }));
  }

  @Patch(':slotId')
  @Answers(SlotDto)
  async update(
    @IdParam() shelf_id: number,
    @IdParam('slotId') id: number,
    @Body() changes: PatchSlotDto,
  ): Promise<SlotDto> {
    await this.slots.findOneByOrFail({ id, shelf_id });
    return toSlotDto(await updateRow(this.slots.manager, Slot, id, changes));
  }

  @Delete(':slotId')
  @AnswersNothing()
  async remove(@IdParam() shelf_id: number, @IdParam('slotId') id: number): Promise<void> {
    await this.slots.findOneByOrFail({ id, shelf_id });
    await deleteRow(this.slots.manager, Slot, id);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Shelf, ShelvedProduct, Slot])],
  controllers: [ShelvesController, SlotsController],
})
export class ShelvesModule {}
