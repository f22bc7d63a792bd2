import { ApiProperty, PartialType } from '@nestjs/swagger';
import {
  includable,
  InputOf,
  ListQueryOf,
  Money,
  OneOf,
  ResourceDto,
  resourceOf,
  Text,
  Uuid,
  Whole,
} from '../../platform';
import { Product, ProductStatus } from './product.entity';

/** The attributes of a product that callers may read. A new column stays private until it is listed here. */
export class ProductDto extends ResourceDto {
  /** The name. @example "Espresso cup" */
  @Text({ min: 1, max: 120 })
  name: string;

  /** The description of the product. It may have several lines. @example "Porcelain, 80 ml." */
  @Text({ max: 2000, multiline: true, nullable: true })
  description: string | null;

  /** The price of one piece in the shop's currency, with at most two decimals. @example 9.95 */
  @Money()
  price: number;

  /** The number of pieces in stock. @example 120 */
  @Whole()
  stock: number;

  /** A discontinued product can't be ordered. @example ACTIVE */
  @OneOf(ProductStatus)
  status: ProductStatus;

  /**
   * The picture to show: the key of a public PNG, JPEG, GIF, WebP or AVIF file. Null for none.
   */
  @ApiProperty({ example: null })
  @Uuid({ nullable: true })
  image: string | null;
}

/** What a new product is made of; a complete product, for a replacement. */
export class CreateProductDto extends InputOf(ProductDto, {
  required: ['name', 'price'],
  defaults: { description: null, stock: 0, status: ProductStatus.ACTIVE, image: null },
}) {}

/** The attributes to change. */
export class PatchProductDto extends PartialType(CreateProductDto, { skipNullProperties: false }) {}

/** What a collection of products can be asked for. */
export class ListProductsQuery extends ListQueryOf(ProductDto, {
  sortable: Product,
  statuses: ProductStatus,
  filterable: ['price', 'stock', 'created_at', 'updated_at'],
}) {}

export const toProductDto = (product: Product): ProductDto =>
  resourceOf(product, {
    name: product.name,
    description: product.description,
    price: product.price,
    stock: product.stock,
    status: product.status,
    image: product.image,
  });

export const includedProduct = includable(Product, ProductDto, { readers: 'everyone', toDto: toProductDto });
