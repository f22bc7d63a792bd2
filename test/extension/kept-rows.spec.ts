import { Controller, Delete, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, DeleteDateColumn, Entity, JoinColumn, ManyToMany, ManyToOne } from 'typeorm';
import { JoinTable, type Relation } from 'typeorm';
import { AnswersNothing, deleteRow, IdParam, Public, ResourceEntity } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { Document } from '../support/openapi';
import { useTestApi } from '../support/test-api';

/** Dogs keep their kennel, and so its yard, which takes its kennels along. */
@Entity('yards')
class Yard extends ResourceEntity {}

@Entity('dog_kennels')
class Kennel extends ResourceEntity {
  @Column('bigint', { nullable: true })
  yard_id: number | null;

  @ManyToOne(() => Yard, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'yard_id' })
  yard?: Relation<Yard>;
}

@Entity('dogs')
class Dog extends ResourceEntity {
  @Column('bigint')
  kennel_id: number;

  @ManyToOne(() => Kennel)
  @JoinColumn({ name: 'kennel_id' })
  kennel?: Relation<Kennel>;

  @Column('bigint', { nullable: true })
  leash_id: number | null;

  @ManyToOne(() => Leash, { onDelete: 'SET NULL' })
  @JoinColumn({ name: 'leash_id' })
  leash?: Relation<Leash>;

  @Column('bigint', { nullable: true })
  breeder_id: number | null;

  @ManyToOne(() => Breeder, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'breeder_id' })
  breeder?: Relation<Breeder>;

  @ManyToMany(() => Dog)
  @JoinTable({ name: 'friends_of_dogs' })
  friends?: Dog[];
}

@Entity('dog_leashes')
class Leash extends ResourceEntity {}

@Entity('breeders')
class Breeder extends ResourceEntity {
  @DeleteDateColumn({ type: 'timestamptz' })
  deleted_at: Date | null;
}

const ENTITIES = [Yard, Kennel, Dog, Leash, Breeder];

function controllerOf(path: string, entity: new () => ResourceEntity) {
  @Controller(path)
  @Public()
  class RemovingController {
    constructor(private readonly database: DataSource) {}

    @Delete(':id')
    @AnswersNothing()
    remove(@IdParam() id: number): Promise<void> {
      return deleteRow(this.database.manager, entity, id);
    }

    @Delete(':id/owner')
    @AnswersNothing()
    disown(@IdParam() _id: number): void {}
  }
  return RemovingController;
}

@Module({
  imports: [TypeOrmModule.forFeature(ENTITIES)],
  controllers: [
    controllerOf('yards', Yard),
    controllerOf('kennels', Kennel),
    controllerOf('dogs', Dog),
    controllerOf('dog-leashes', Leash),
    controllerOf('breeders', Breeder),
  ],
})
class DogsModule {}

describe('The document of a DELETE', () => {
  const api = useTestApi({ imports: [DogsModule] });
  let document: Document;

  beforeAll(async () => {
    await api.app.nest.get(DataSource).synchronize();
    document = new Document((await api.get('//docs/json')).body);
  });

  const conflictOf = (path: string) => {
    const operation = document.operations.find(({ name }) => name === `DELETE /api/v1/${path}`)!;
    return document.response(operation, 409)?.description as string | undefined;
  };

  it.each(['kennels/{id}', 'yards/{id}'])('has 409 where others keep the row: %s', (path) => {
    expect(conflictOf(path)).toBe('Something else still refers to it');
  });

  it.each(['dogs/{id}', 'dog-leashes/{id}', 'breeders/{id}', 'kennels/{id}/owner'])(
    'has none where nothing keeps the row, or the row is only hidden: %s',
    (path) => {
      expect(conflictOf(path)).toBeUndefined();
    },
  );

  it('is right about the answers', async () => {
    const yard = await api.repository(Yard).save({});
    const kennel = await api.repository(Kennel).save({ yard_id: yard.id });
    const leash = await api.repository(Leash).save({});
    const dog = await api.repository(Dog).save({ kennel_id: kennel.id, leash_id: leash.id });

    expectError(await api.delete(`/kennels/${kennel.id}`), 'CONFLICT', { fields: { id: 'reference' } });
    expectError(await api.delete(`/yards/${yard.id}`), 'CONFLICT', { fields: { id: 'reference' } });
    for (const path of [`dog-leashes/${leash.id}`, `dogs/${dog.id}`, `yards/${yard.id}`]) {
      expect([path, (await api.delete(`/${path}`)).status]).toEqual([path, 204]);
    }
  });
});
