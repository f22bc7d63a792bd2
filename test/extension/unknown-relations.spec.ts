import { Body, Controller, Module, Param, Post } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, JoinTable, ManyToMany, ManyToOne, type Relation } from 'typeorm';
import { insertRow, Public, ResourceEntity, updateRow } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

@Entity('bands')
class Band extends ResourceEntity {
  @Column({ default: 'A band' })
  name: string;

  @ManyToMany(() => Genre, ({ bands }) => bands)
  @JoinTable()
  genres: Relation<Genre>[];

  @ManyToMany(() => Band)
  @JoinTable({
    name: 'rivals_of_bands',
    joinColumn: { name: 'band', foreignKeyConstraintName: 'rivals_of_bands_band_fkey' },
    inverseJoinColumn: { name: 'rival', foreignKeyConstraintName: 'rivals_of_bands_rival_fkey' },
  })
  rivals: Relation<Band>[];

  /** TypeORM names its column and its constraint. */
  @ManyToOne(() => Genre)
  favourite: Relation<Genre>;
}

@Entity('genres')
class Genre extends ResourceEntity {
  @ManyToMany(() => Band, ({ genres }) => genres)
  bands: Relation<Band>[];
}

const ENTITIES = { bands: Band, genres: Genre };
const UNKNOWN = { id: 77_777 };

@Controller('music')
@Public()
class MusicController {
  constructor(private readonly database: DataSource) {}

  @Post(':noun/:way')
  async write(
    @Param('noun') noun: keyof typeof ENTITIES,
    @Param('way') way: string,
    @Body() body: object,
  ): Promise<object> {
    const { manager } = this.database;
    const entity = ENTITIES[noun] as typeof Band;
    if (way === 'save') return manager.save(entity, body);
    if (way === 'insertRow') return insertRow(manager, entity, body);
    const { id } = await manager.save(manager.create(entity));
    if (way === 'updateRow') return updateRow(manager, entity, id, body);
    const [[relation, value]] = Object.entries(body) as [string, { id: number }[]][];
    await manager.createQueryBuilder().relation(entity, relation).of(id).add(value);
    return { id };
  }
}

@Module({ imports: [TypeOrmModule.forFeature(Object.values(ENTITIES))], controllers: [MusicController] })
class MusicModule {}

describe('The unknown id of a relation', () => {
  const api = useTestApi({ imports: [MusicModule] });

  beforeAll(() => api.app.nest.get(DataSource).synchronize());

  it.each(['save', 'insertRow', 'updateRow', 'builder'])('is 400 at the name of the relation: %s', async (way) => {
    const refusalOf = async (noun: string, body: object) =>
      expectError(await api.post(`/music/${noun}/${way}`, body), 'VALIDATION_ERROR').fields;
    const unknown = (field: string) => [expect.objectContaining({ field, rule: 'fkey' })];

    expect(await refusalOf('bands', { genres: [UNKNOWN] })).toEqual(unknown('genres'));
    expect(await refusalOf('bands', { rivals: [UNKNOWN] })).toEqual(unknown('rivals'));
    expect(await refusalOf('genres', { bands: [UNKNOWN] })).toEqual(unknown('bands'));
  });

  it('is 400 at the name of a relation whose constraint TypeORM has named', async () => {
    const answer = await api.post('/music/bands/save', { favourite: UNKNOWN });

    expectError(answer, 'VALIDATION_ERROR', { fields: { 'favourite.id': 'fkey' } });
  });

  it('is none where the row is there', async () => {
    const { id } = await api.repository(Genre).save({});

    expect(await api.post('/music/bands/updateRow', { genres: [{ id }] })).toMatchObject({ status: 201 });
  });
});
