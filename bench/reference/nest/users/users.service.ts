import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, ILike, Repository } from 'typeorm';
import { Page, PageQueryDto } from '../page';
import { User } from './user.entity';

@Injectable()
export class UsersService {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  async findAll({ page, size, status, search }: PageQueryDto): Promise<Page<User>> {
    const [data, total] = await this.users.findAndCount({
      where: conditions(status, search),
      order: { id: 'ASC' },
      take: size,
      skip: page * size,
    });
    return new Page(data, { page, size, total, totalPages: Math.ceil(total / size) });
  }

  async findOne(id: number): Promise<User> {
    const user = await this.users.findOneBy({ id });
    if (!user) throw new NotFoundException();
    return user;
  }
}

function conditions(status?: string, search?: string): FindOptionsWhere<User>[] {
  const filter = status === undefined ? {} : { status };
  if (search === undefined) return [filter];
  const pattern = ILike(`%${search}%`);
  return [
    { ...filter, username: pattern },
    { ...filter, name: pattern },
  ];
}
