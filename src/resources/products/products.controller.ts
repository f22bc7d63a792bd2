import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  ApiExampleBody,
  ApiResource,
  CreatesEach,
  IdParam,
  IfMatch,
  InputsOf,
  type Page,
  type Precondition,
  Prefetches,
  Public,
  Role,
  Roles,
} from '../../platform';
import { CreateProductDto, ListProductsQuery, PatchProductDto, ProductDto, toProductDto } from './product.dto';
import { Product } from './product.entity';
import { ProductsService } from './products.service';

@ApiResource('Products', 'The catalogue.')
@Controller('products')
export class ProductsController {
  constructor(private readonly products: ProductsService) {}

  /** Lists products. @remarks `search` looks through `name` and `description`. */
  @Get()
  @Public()
  @AnswersPage(ProductDto)
  async list(@Query() query: ListProductsQuery): Promise<Page<object>> {
    return (await this.products.list(query)).map(toProductDto);
  }

  /** Reads one product. */
  @Get(':id')
  @Public()
  @Answers(ProductDto)
  @Prefetches(Product)
  async get(@IdParam() id: number): Promise<ProductDto> {
    return toProductDto(await this.products.get(id));
  }

  /** Creates a product, or up to 1,000 products at once. */
  @Post()
  @Roles(Role.ADMIN)
  @CreatesEach(ProductDto)
  async create(@InputsOf(CreateProductDto) inputs: CreateProductDto[]): Promise<ProductDto[]> {
    return (await this.products.create(inputs)).map(toProductDto);
  }

  /** Replaces a product. @remarks Attributes that are left out take their default. */
  @Put(':id')
  @Roles(Role.ADMIN)
  @Answers(ProductDto)
  async replace(
    @IdParam() id: number,
    @Body() input: CreateProductDto,
    @IfMatch() expected?: Precondition,
  ): Promise<ProductDto> {
    return toProductDto(await this.products.update(id, input, expected));
  }

  /** Changes some attributes of a product. */
  @Patch(':id')
  @Roles(Role.ADMIN)
  @Answers(ProductDto)
  @ApiExampleBody({ price: 8.5 })
  async update(
    @IdParam() id: number,
    @Body() changes: PatchProductDto,
    @IfMatch() expected?: Precondition,
  ): Promise<ProductDto> {
    return toProductDto(await this.products.update(id, changes, expected));
  }

  /** Deletes a product. @remarks Orders of the product stay, with its name and price. */
  @Delete(':id')
  @Roles(Role.ADMIN)
  @AnswersNothing()
  remove(@IdParam() id: number, @IfMatch() expected?: Precondition): Promise<void> {
    return this.products.remove(id, expected);
  }
}
