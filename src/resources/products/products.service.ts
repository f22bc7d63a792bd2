import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { insertRows, type Page, paginate, type Precondition, readRow, updateRow } from '../../platform';
import type { CreateProductDto, ListProductsQuery, PatchProductDto } from './product.dto';
import { Product } from './product.entity';

@Injectable()
export class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  list(query: ListProductsQuery): Promise<Page<Product>> {
    // The database keeps a copy of the texts apart, as an order changes the row but not the texts.
    return paginate(this.products, query, {
      searchIn: `resource.id IN (SELECT product_id FROM product_texts WHERE name ILIKE :pattern OR description ILIKE :pattern)`,
    });
  }

  get(id: number): Promise<Product> {
    return readRow(this.products.manager, Product, id);
  }

  create(inputs: CreateProductDto[]): Promise<Product[]> {
    return insertRows(this.products.manager, Product, inputs);
  }

  update(id: number, changes: PatchProductDto, expected?: Precondition): Promise<Product> {
    return updateRow(this.products.manager, Product, id, changes, expected);
  }

  async remove(id: number, expected?: Precondition): Promise<void> {
    await updateRow(this.products.manager, Product, id, { deleted_at: new Date() }, expected);
  }
}
