import { Controller, Delete, Get, HttpCode, Module, Param, Patch, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn, Repository } from 'typeorm';
import {
  deleteRow,
  IdParam,
  IfMatch,
  type Precondition,
  Public,
  requireExpected,
  requireExpectedSoFar,
  ResourceDto,
  ResourceEntity,
  resourceOf,
  touchRow,
  UnitOfWork,
  updateRow,
} from '../../src/platform';
import { type Answer, atOnce, countStatuses, expectError, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

@Entity('card_tags')
class CardTag {
  @PrimaryGeneratedColumn('identity')
  id: number;
}

@Entity('index_cards')
class IndexCard extends ResourceEntity {
  @Column()
  title: string;

  @ManyToMany(() => CardTag)
  @JoinTable()
  tags: CardTag[];
}

class CardDto extends ResourceDto {
  title: string;
}

type Write = (id: number, expected: Precondition | undefined) => Promise<unknown>;

const TITLE = { title: 'changed' };

@Controller('index-cards')
@Public()
class CardsController {
  constructor(
    @InjectRepository(IndexCard) private readonly cards: Repository<IndexCard>,
    private readonly database: DataSource,
  ) {}

  @Get(':id')
  async get(@IdParam() id: number): Promise<CardDto> {
    const card = await this.cards.findOneByOrFail({ id });
    return resourceOf<CardDto>(card, { title: card.title });
  }

  /** What a handler is given. */
  @Post(':id/precondition')
  @HttpCode(200)
  create(@IdParam() _id: number, @IfMatch() expected?: Precondition): object {
    return { given: expected !== undefined };
  }

  @Patch(':id/precondition')
  change(@IdParam() _id: number, @IfMatch() expected?: Precondition): object {
    return { given: expected !== undefined };
  }

  @Patch(':id/:way')
  async patch(@IdParam() id: number, @Param('way') way: string, @IfMatch() expected?: Precondition): Promise<CardDto> {
    await this.writes[way](id, expected);
    return this.get(id);
  }

  /** Where only the argument tells. */
  @Patch(':id/:way/outside')
  async patchOutside(
    @IdParam() id: number,
    @Param('way') way: string,
    @IfMatch() expected?: Precondition,
  ): Promise<CardDto> {
    await UnitOfWork.outside(() => this.writes[way](id, expected));
    return this.get(id);
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@IdParam() id: number, @IfMatch() expected?: Precondition): Promise<void> {
    return UnitOfWork.outside(() => deleteRow(this.cards.manager, IndexCard, id, expected));
  }

  private readonly writes: Record<string, Write> = {
    updateRow: (id, expected) => updateRow(this.cards.manager, IndexCard, id, TITLE, expected),
    'updateRow-with-a-relation': (id, expected) =>
      updateRow(this.cards.manager, IndexCard, id, { ...TITLE, tags: [] }, expected),
    touchRow: (id, expected) => touchRow(this.cards.manager, IndexCard, id, expected),
    // Changes a relation alone: the version moves by a statement of its own.
    'relation-alone': (id, expected) => updateRow(this.cards.manager, IndexCard, id, { tags: [{ id: 1 }] }, expected),
    'requireExpected-and-save': (id, expected) =>
      this.database.transaction(async (manager) => {
        const card = await locked(manager.getRepository(IndexCard), id);
        requireExpected(card, expected);
        await manager.save(Object.assign(card, TITLE));
      }),
    'requireExpected-and-updateRow': (id, expected) =>
      this.database.transaction(async (manager) => {
        requireExpected(await locked(manager.getRepository(IndexCard), id), expected);
        await updateRow(manager, IndexCard, id, TITLE, expected);
      }),
    'requireExpectedSoFar-and-updateRow': async (id, expected) => {
      requireExpectedSoFar(await this.cards.findOneByOrFail({ id }), expected);
      await updateRow(this.cards.manager, IndexCard, id, TITLE, expected);
    },
    'several-rows': async (id, expected) => {
      const [first, second, third] = await this.others(id);
      await updateRow(this.cards.manager, IndexCard, id, TITLE, expected);
      await updateRow(this.cards.manager, IndexCard, first.id, TITLE);
      await this.cards.save(Object.assign(second, TITLE));
      await this.cards.update({ id: third.id }, TITLE);
      await this.database.query("UPDATE index_cards SET title = 'in SQL' WHERE id = $1", [third.id]);
    },
    // Nothing changes.
    'no-columns': (id, expected) => updateRow(this.cards.manager, IndexCard, id, {}, expected),
    // Another row is written first, so that it is taken for the one that the request is about.
    'another-row-first': async (id, expected) => {
      const [other] = await this.others(id);
      await updateRow(this.cards.manager, IndexCard, other.id, TITLE);
      await updateRow(this.cards.manager, IndexCard, id, TITLE, expected);
    },
    // The first attempt is rolled back, and somebody else writes before the second one.
    'second-attempt': async (id, expected) => {
      const attempt = () =>
        this.database.transaction(async (manager) => {
          await updateRow(manager, IndexCard, id, TITLE, expected);
          throw new Error('not yet');
        });
      await attempt().catch(() => UnitOfWork.outside(() => this.cards.update({ id }, { title: 'by another' })));
      await updateRow(this.cards.manager, IndexCard, id, TITLE, expected);
    },
  };

  private others(id: number): Promise<IndexCard[]> {
    return this.cards.createQueryBuilder('card').where('card.id > :id', { id }).orderBy('card.id').getMany();
  }
}

function locked(cards: Repository<IndexCard>, id: number): Promise<IndexCard> {
  return cards.findOneOrFail({ where: { id }, lock: { mode: 'pessimistic_write' } });
}

@Module({ imports: [TypeOrmModule.forFeature([IndexCard, CardTag])], controllers: [CardsController] })
class CardsModule {}

const ONE_ROW = [
  ...['updateRow', 'updateRow-with-a-relation', 'touchRow', 'relation-alone', 'requireExpected-and-save'],
  ...['requireExpected-and-updateRow', 'requireExpectedSoFar-and-updateRow'],
];

describe('A precondition that a handler is given by @IfMatch()', () => {
  const api = useTestApi({ imports: [CardsModule] });
  const cards = () => api.repository(IndexCard);
  const tagOf = ({ headers }: Answer) => headers.get('etag');

  beforeAll(async () => {
    const database = api.app.nest.get(DataSource);
    const { upQueries } = await database.driver.createSchemaBuilder().log();
    const own = upQueries.filter(({ query }) => /"(card_tags|index_cards|index_cards_tags_card_tags)"/.test(query));
    for (const { query } of own) await database.query(query);
    await database.query(
      'CREATE TRIGGER index_cards_touch BEFORE UPDATE ON index_cards FOR EACH ROW EXECUTE FUNCTION touch_row()',
    );
    await database.query('INSERT INTO card_tags DEFAULT VALUES');
  });

  /** @param version that the card gets to */
  async function aCard(version = 1): Promise<number> {
    const { id } = await cards().save({ title: 'as it was' });
    for (let next = 2; next <= version; next++) await cards().update({ id }, { title: `version ${next}` });
    return id;
  }

  describe.each([
    ['', ''],
    [' outside of the unit of work', '/outside'],
  ])('and passes on%s', (_name, where) => {
    it.each(ONE_ROW)('is compared by %s', async (way) => {
      const path = `/index-cards/${await aCard()}`;
      for (const [name, tag] of [
        ['If-Match', '"77"'],
        ['If-None-Match', '"1"'],
        ['If-None-Match', '*'],
      ]) {
        const refused = await api.with({ [name]: tag }).patch(`${path}/${way}${where}`);
        expectError(refused, 'PRECONDITION_FAILED');
        expect(tagOf(refused)).toBe('"1"');
      }
      expect((await api.get(path)).body.data.title).toBe('as it was');

      const changed = await api.with({ 'If-Match': '"77", "1"' }).patch(`${path}/${way}${where}`);
      expect([changed.status, tagOf(changed)]).toEqual([200, '"2"']);
      expect((await api.patch(`${path}/${way}${where}`)).status).toBe(200);
    });

    it.each(ONE_ROW)('lets one of many win who change a row at once by %s', async (way) => {
      const path = `/index-cards/${await aCard()}`;
      const answers: Answer[] = [];
      await atOnce(times(8, String), async () => {
        answers.push(await api.with({ 'If-Match': '"1"' }).patch(`${path}/${way}${where}`));
      });
      expect(countStatuses(answers)).toEqual({ 200: 1, 412: 7 });
    });

    it('is compared by updateRow() that has nothing to write', async () => {
      const path = `/index-cards/${await aCard()}/no-columns${where}`;
      expectError(await api.with({ 'If-Match': '"77"' }).patch(path), 'PRECONDITION_FAILED');
      expect(tagOf(await api.with({ 'If-Match': '"1"' }).patch(path))).toBe('"1"');
    });

    it.each([...ONE_ROW, 'no-columns'])('comes after 404 in %s', async (way) => {
      const answer = await api.with({ 'If-Match': '"1"' }).patch(`/index-cards/999999/${way}${where}`);
      expectError(answer, 'NOT_FOUND');
    });

    it('is compared with no other row of the request', async () => {
      const id = await aCard(2);
      const others = [await aCard(1), await aCard(3), await aCard(4)];
      const changed = await api.with({ 'If-Match': '"2"' }).patch(`/index-cards/${id}/several-rows${where}`);
      expect([changed.status, tagOf(changed)]).toEqual([200, '"3"']);
      const versions = await Promise.all(
        others.map(async (other) => (await cards().findOneByOrFail({ id: other })).version),
      );
      expect(versions).toEqual([2, 4, 6]);
    });

    it('is compared again where a transaction is tried again', async () => {
      const path = `/index-cards/${await aCard()}`;
      const refused = await api.with({ 'If-Match': '"1"' }).patch(`${path}/second-attempt${where}`);
      expectError(refused, 'PRECONDITION_FAILED');
      expect(tagOf(refused)).toBe('"2"');
      expect((await api.get(path)).body.data.title).toBe('by another');
    });
  });

  it('is compared also where another row was taken for the one that the request is about', async () => {
    const id = await aCard(2);
    await aCard(1);
    const refused = await api.with({ 'If-Match': '"1"' }).patch(`/index-cards/${id}/another-row-first`);
    expectError(refused, 'PRECONDITION_FAILED');
    expect(tagOf(refused)).toBe('"2"');
    expect((await api.get(`/index-cards/${id}`)).body.data.title).toBe('version 2');
  });

  it('is compared by deleteRow()', async () => {
    const path = `/index-cards/${await aCard()}`;
    const refused = await api.with({ 'If-Match': '"77"' }).delete(path);
    expectError(refused, 'PRECONDITION_FAILED');
    expect(tagOf(refused)).toBe('"1"');
    expect((await api.with({ 'If-Match': '"1"' }).delete(path)).status).toBe(204);
    expectError(await api.with({ 'If-Match': '"1"' }).delete(path), 'NOT_FOUND');
  });

  it.each([
    ['PATCH', { 'If-Match': '"1"' }, true],
    ['PATCH', { 'If-None-Match': '"1"' }, true],
    ['PATCH', { 'If-Match': '*' }, false],
    ['PATCH', {}, false],
    ['POST', { 'If-Match': '"1"' }, true],
    ['POST', { 'If-None-Match': '"1"' }, true],
    ['POST', { 'If-Match': '*' }, false],
  ])('is there in a %s with %j: %s', async (method, headers: Record<string, string>, given) => {
    expect((await api.send(method, '/index-cards/1/precondition', undefined, headers)).body.data).toEqual({ given });
  });
});
