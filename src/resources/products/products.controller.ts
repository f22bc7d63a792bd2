import { Body, Controller, Delete, Get, HttpStatus, Patch, Post, Put, Query } from '@nestjs/common';
import { Public, Roles } from '../../auth/access.decorators';
import { Role } from '../../auth/caller';
import { ApiItem, ApiNothing, ApiPage, ApiResource, ExampleBody } from '../../conventions/docs/api.decorators';
import type { Page } from '../../conventions/lists/page';
import { IdParam } from '../../conventions/requests/id.pipe';
import { CreateProductDto, ListProductsQuery, PatchProductDto, ProductDto, toProductDto } from './product.dto';
import { ProductsService } from './products.service';

@ApiResource('Products', 'What is for sale.')
@Controller('products')
export class ProductsController {
  constructor(private readonly products: ProductsService) {}

  /**
   * Lists products.
   * @remarks `search` looks through `name` and `description`.
   */
  @Get()
  @Public()
  @ApiPage(ProductDto)
  async list(@Query() query: ListProductsQuery): Promise<Page<object>> {
    return (await this.products.list(query)).map(toProductDto);
  }

  /** Reads one product. */
  @Get(':id')
  @Public()
  @ApiItem(ProductDto)
  async get(@IdParam() id: number): Promise<ProductDto> {
    return toProductDto(await this.products.get(id));
  }

  /** Creates a product. */
  @Post()
  @Roles(Role.ADMIN)
  @ApiItem(ProductDto, HttpStatus.CREATED)
  async create(@Body() input: CreateProductDto): Promise<ProductDto> {
    return toProductDto(await this.products.create(input));
  }

  /**
   * Replaces a product.
   * @remarks Attributes that are left out take their default.
   */
  @Put(':id')
  @Roles(Role.ADMIN)
  @ApiItem(ProductDto)
  async replace(@IdParam() id: number, @Body() input: CreateProductDto): Promise<ProductDto> {
    return toProductDto(await this.products.replace(id, input));
  }

  /** Changes some attributes of a product. */
  @Patch(':id')
  @Roles(Role.ADMIN)
  @ApiItem(ProductDto)
  @ExampleBody({ price: 8.5 })
  async update(@IdParam() id: number, @Body() changes: PatchProductDto): Promise<ProductDto> {
    return toProductDto(await this.products.update(id, changes));
  }

  /**
   * Deletes a product.
   * @remarks Orders still show what was bought.
   */
  @Delete(':id')
  @Roles(Role.ADMIN)
  @ApiNothing()
  remove(@IdParam() id: number): Promise<void> {
    return this.products.remove(id);
  }
}
