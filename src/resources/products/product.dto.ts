import { PartialType, PickType } from '@nestjs/swagger';
import { ListQueryOf } from '../../conventions/lists/list-query';
import { Money, OneOf, Text, Whole } from '../../conventions/requests/attributes';
import { ResourceDto, resourceOf } from '../../conventions/responses/resource.dto';
import { type Product, ProductStatus } from './product.entity';

/** What a client may read of a product. A new column stays private until it is listed here. */
export class ProductDto extends ResourceDto {
  /**
   * What it is called.
   * @example "Espresso cup"
   */
  @Text({ min: 1, max: 120 })
  name: string;

  /**
   * What there is to know about it; may have several lines.
   * @example "Porcelain, 80 ml."
   */
  @Text({ max: 2000, multiline: true, nullable: true })
  description: string | null;

  /**
   * In the shop's currency, at most two decimals.
   * @example 9.95
   */
  @Money()
  price: number;

  /**
   * How many can be sold.
   * @example 120
   */
  @Whole()
  stock: number;

  /**
   * A discontinued product can't be ordered.
   * @example ACTIVE
   */
  @OneOf(ProductStatus)
  status: ProductStatus;
}

/** What a new product is made of; a complete product, for a replacement. */
export class CreateProductDto extends PickType(ProductDto, ['name', 'price']) {
  /**
   * What there is to know about it; may have several lines.
   * @example "Porcelain, 80 ml."
   */
  @Text({ max: 2000, multiline: true, nullable: true, optional: true })
  description?: string | null;

  /**
   * How many can be sold.
   * @example 120
   */
  @Whole({ default: 0 })
  stock?: number;

  /**
   * A discontinued product can't be ordered.
   * @example ACTIVE
   */
  @OneOf(ProductStatus, { default: ProductStatus.ACTIVE })
  status?: ProductStatus;
}

/** The attributes to change. */
export class PatchProductDto extends PartialType(CreateProductDto, { skipNullProperties: false }) {}

/** What a collection of products can be asked for. */
export class ListProductsQuery extends ListQueryOf(ProductDto, {
  sortable: ['id', 'name', 'price', 'stock', 'status', 'created_at', 'updated_at'],
  statuses: ProductStatus,
}) {}

export const toProductDto = (product: Product): ProductDto =>
  resourceOf(product, {
    name: product.name,
    description: product.description,
    price: product.price,
    stock: product.stock,
    status: product.status,
  });
