import { PartialType, PickType } from '@nestjs/swagger';
import { ListQueryOf, Money, OneOf, ResourceDto, resourceOf, Text, Whole } from '../../platform';
import { type Product, ProductStatus } from './product.entity';

/** What a client may read of a product. A new column stays private until it is listed here. */
export class ProductDto extends ResourceDto {
  /**
   * The name.
   * @example "Espresso cup"
   */
  @Text({ min: 1, max: 120 })
  name: string;

  /**
   * The description of the product. It may have several lines.
   * @example "Porcelain, 80 ml."
   */
  @Text({ max: 2000, multiline: true, nullable: true })
  description: string | null;

  /**
   * The price of one piece in the shop's currency, with at most two decimals.
   * @example 9.95
   */
  @Money()
  price: number;

  /**
   * The number of pieces in stock.
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
   * The description of the product. It may have several lines.
   * @example "Porcelain, 80 ml."
   */
  @Text({ max: 2000, multiline: true, nullable: true, optional: true })
  description?: string | null;

  /**
   * The number of pieces in stock.
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
