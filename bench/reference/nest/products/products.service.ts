import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { CreateProductDto, UpdateProductDto } from './product.dto';
import { Product } from './product.entity';

@Injectable()
export class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  async findOne(id: number): Promise<Product> {
    const product = await this.products.findOneBy({ id });
    if (!product) throw new NotFoundException();
    return product;
  }

  create(input: CreateProductDto): Promise<Product> {
    return this.products.save(this.products.create(input));
  }

  async update(id: number, changes: UpdateProductDto): Promise<Product> {
    return this.products.save(Object.assign(await this.findOne(id), changes));
  }
}
