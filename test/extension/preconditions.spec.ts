import { Body, Controller, Delete, Get, HttpCode, Module, Param, Patch } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsOptional, IsString } from 'class-validator';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  Repository,
} from 'typeorm';
import {
  deleteRow,
  IdParam,
  Public,
  requireExpected,
  ResourceDto,
  ResourceEntity,
  resourceOf,
  touchRow,
  updateRow,
} from '../../src/platform';
import { expectError } from '../support/expectations';
import { type Answer, atOnce, countStatuses, times, useTestApi } from '../support/test-api';

@Entity('note_tags')
class NoteTag {
  @PrimaryGeneratedColumn('identity')
  id: number;

  @Column()
  text: string;
}

@Entity('sticky_notes')
class StickyNote extends ResourceEntity {
  @Column()
  title: string;

  @Column({ default: 0 })
  views: number;

  @ManyToMany(() => NoteTag)
  @JoinTable()
  tags: NoteTag[];

  @OneToMany(() => NoteLine, (line) => line.note, { cascade: true })
  lines: Relation<NoteLine>[];

  @DeleteDateColumn({ type: 'timestamptz' })
  deleted_at: Date | null;
}

@Entity('note_lines')
class NoteLine extends ResourceEntity {
  @Column()
  text: string;

  @ManyToOne(() => StickyNote, (note) => note.lines, { onDelete: 'CASCADE' })
  note: Relation<StickyNote>;
}

/** Has no version: nothing tells which one a caller has. */
@Entity('jottings')
class Jotting {
  @PrimaryGeneratedColumn('identity')
  id: number;

  @Column()
  title: string;
}

class NoteDto extends ResourceDto {
  title: string;
}

class PatchDto {
  @IsOptional()
  @IsString()
  title?: string;
}

type Write = (id: number, title: string) => Promise<unknown>;

const toDto = (note: StickyNote): NoteDto => resourceOf<NoteDto>(note, { title: note.title });

@Controller('sticky-notes')
class NotesController {
  constructor(
    @InjectRepository(StickyNote) private readonly notes: Repository<StickyNote>,
    private readonly database: DataSource,
  ) {}

  @Get(':id')
  @Public()
  async get(@IdParam() id: number): Promise<NoteDto> {
    return toDto(await this.notes.findOneByOrFail({ id }));
  }

  @Patch(':id/:way')
  @Public()
  async patch(@IdParam() id: number, @Param('way') way: string, @Body() { title = '' }: PatchDto): Promise<NoteDto> {
    const written = await this.patches[way](id, title);
    return toDto(written instanceof StickyNote ? written : await this.notes.findOneByOrFail({ id }));
  }

  @Delete(':id/:way')
  @HttpCode(204)
  @Public()
  async remove(@IdParam() id: number, @Param('way') way: string): Promise<void> {
    await this.removals[way](id, '');
  }

  private readonly patches: Record<string, Write> = {
    helper: (id, title) => updateRow(this.notes.manager, StickyNote, id, { title }),
    save: async (id, title) => this.notes.save(Object.assign(await this.notes.findOneByOrFail({ id }), { title })),
    'save-of-a-part': async (id, title) => void (await this.notes.save({ id, title })),
    'save-by-the-manager': async (id, title) => {
      const note = await this.notes.findOneByOrFail({ id });
      return this.database.manager.save(Object.assign(note, { title }));
    },
    'save-of-several': async (id, title) => {
      const note = await this.notes.findOneByOrFail({ id });
      const [saved] = await this.notes.save([Object.assign(note, { title }), this.notes.create({ title: 'another' })]);
      return saved;
    },
    'save-in-a-transaction': (id, title) =>
      this.database.transaction(async (manager) => {
        const note = await manager.findOneByOrFail(StickyNote, { id });
        return manager.save(Object.assign(note, { title }));
      }),
    'save-without-a-transaction': async (id, title) => {
      const note = await this.notes.findOneByOrFail({ id });
      return this.notes.save(Object.assign(note, { title }), { transaction: false });
    },
    'save-after-an-insert': async (id, title) => {
      await this.database.getRepository(Jotting).save({ title: 'who changed what' });
      return this.notes.save(Object.assign(await this.notes.findOneByOrFail({ id }), { title }));
    },
    update: async (id, title) => void (await this.notes.update({ id }, { title })),
    'update-by-id': async (id, title) => void (await this.notes.update(id, { title })),
    builder: async (id, title) => {
      const builder = this.notes.createQueryBuilder().update().set({ title });
      await builder.where('id = :id', { id }).orWhere('title = :other', { other: 'no such title' }).execute();
    },
    increment: async (id) => void (await this.notes.increment({ id }, 'views', 1)),
    'raw-elsewhere': async (id, title) => {
      await this.database.query('UPDATE jottings SET title = $1', [title]);
      return updateRow(this.notes.manager, StickyNote, id, { title });
    },
    touch: (id) => touchRow(this.notes.manager, StickyNote, id),
    'locked-and-raw': (id, title) =>
      this.database.transaction(async (manager) => {
        const lock = { mode: 'pessimistic_write' } as const;
        requireExpected(await manager.findOneOrFail(StickyNote, { where: { id }, lock }));
        await manager.query('UPDATE sticky_notes SET title = $2 WHERE id = $1', [id, title]);
      }),
    tags: (id) =>
      this.database.transaction(async (manager) => {
        const note = await touchRow(manager, StickyNote, id);
        await manager.createQueryBuilder().relation(StickyNote, 'tags').of(note).add(1);
        return note;
      }),
    // These change nothing.
    'save-of-nothing': async (id) => this.notes.save(await this.notes.findOneByOrFail({ id })),
    nothing: (id) => this.notes.findOneByOrFail({ id }),
    'no-columns': (id) => updateRow(this.notes.manager, StickyNote, id, {}),
    // Only the line has changed.
    line: async (id, title) => {
      const note = await this.notes.findOneOrFail({ where: { id }, relations: { lines: true } });
      note.lines[0].text = title;
      return this.notes.save(note);
    },
    // These can't be honoured.
    raw: (id, title) => this.database.query('UPDATE sticky_notes SET title = $2 WHERE id = $1', [id, title]),
    'raw-with': (id, title) =>
      this.database.query('WITH one AS (SELECT 1) UPDATE "sticky_notes" SET title = $2 WHERE id = $1', [id, title]),
    'raw-in-a-with': (id, title) =>
      this.database.query(
        'WITH changed AS (UPDATE sticky_notes SET title = $2 WHERE id = $1 RETURNING id) SELECT id FROM changed',
        [id, title],
      ),
    'raw-in-a-transaction': (id, title) =>
      this.database.transaction((manager) =>
        manager.query(`update only public.sticky_notes set title = '${title}' where id = ${id}`),
      ),
    upsert: async (id, title) => void (await this.notes.upsert({ id, title }, ['id'])),
  };

  private readonly removals: Record<string, Write> = {
    helper: (id) => deleteRow(this.notes.manager, StickyNote, id),
    remove: async (id) => this.notes.remove(await this.notes.findOneByOrFail({ id })),
    'soft-remove': async (id) => this.notes.softRemove(await this.notes.findOneByOrFail({ id })),
    delete: (id) => this.notes.delete({ id }),
    'delete-by-id': (id) => this.notes.delete(id),
    'soft-delete': (id) => this.notes.softDelete(id),
    raw: (id) => this.database.query('DELETE FROM sticky_notes WHERE id = $1', [id]),
  };
}

@Module({
  imports: [TypeOrmModule.forFeature([StickyNote, NoteTag, NoteLine, Jotting])],
  controllers: [NotesController],
})
class NotesModule {}

const CHANGES = [
  ...['helper', 'save', 'save-of-a-part', 'save-by-the-manager', 'save-of-several', 'save-in-a-transaction'],
  ...['save-without-a-transaction', 'save-after-an-insert', 'update', 'update-by-id', 'builder', 'increment', 'touch'],
  ...['locked-and-raw', 'tags'],
];
const NO_CHANGES = ['save-of-nothing', 'nothing', 'no-columns', 'line'];
const REFUSED = ['raw', 'raw-with', 'raw-in-a-with', 'raw-in-a-transaction', 'upsert'];
const REMOVALS = ['helper', 'remove', 'soft-remove', 'delete', 'delete-by-id', 'soft-delete'];

describe('A precondition of a change', () => {
  const api = useTestApi({ imports: [NotesModule] });
  const notes = () => api.repository(StickyNote);
  const tagOf = ({ headers }: Answer) => headers.get('etag');

  beforeAll(async () => {
    const database = api.app.nest.get(DataSource);
    const tables = ['note_tags', 'sticky_notes', 'note_lines', 'jottings', 'sticky_notes_tags_note_tags'];
    const builder = database.driver.createSchemaBuilder();
    const { upQueries } = await builder.log();
    for (const { query } of upQueries) {
      if (tables.some((table) => query.includes(`"${table}"`))) await database.query(query);
    }
    for (const table of ['sticky_notes', 'note_lines']) {
      await database.query(
        `CREATE TRIGGER ${table}_touch BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION touch_row()`,
      );
    }
    await database.getRepository(NoteTag).save({ text: 'a tag' });
  });

  async function aNote(): Promise<string> {
    const { id, lines } = await notes().save({ title: 'as it was', lines: [{ text: 'a line' }] });
    // Its version is its own.
    await api.repository(NoteLine).update(lines[0].id, { text: 'another line' });
    return `/sticky-notes/${id}`;
  }

  it.each(CHANGES)('is honoured by %s, which answers with what is stored', async (way) => {
    const path = await aNote();
    const before = await api.get(path);
    for (const [name, tag] of [
      ['If-Match', '"77"'],
      ['If-None-Match', '"1"'],
      ['If-None-Match', '*'],
    ]) {
      const refused = await api.with({ [name]: tag }).patch(`${path}/${way}`, { title: 'changed' });
      expectError(refused, 'PRECONDITION_FAILED');
      expect(tagOf(refused)).toBe('"1"');
    }
    expect((await api.get(path)).body.data).toEqual(before.body.data);

    const changed = await api.with({ 'If-Match': '"77", "1"' }).patch(`${path}/${way}`, { title: 'changed' });
    expect([changed.status, tagOf(changed)]).toEqual([200, '"2"']);
    const after = await api.get(path);
    expect(tagOf(after)).toBe('"2"');
    expect(changed.body.data).toEqual(after.body.data);
    expect(after.body.data.updated_at > before.body.data.updated_at).toBe(true);
  });

  it.each(CHANGES.filter((way) => way.startsWith('save')))(
    'need not be there: %s answers with what is stored',
    async (way) => {
      const path = await aNote();
      const changed = await api.patch(`${path}/${way}`, { title: 'changed' });
      expect([changed.status, tagOf(changed)]).toEqual([200, '"2"']);
      expect(changed.body.data).toEqual((await api.get(path)).body.data);
    },
  );

  it.each(CHANGES)('lets one of many win who change a row at once by %s', async (way) => {
    const path = await aNote();
    const guarded = api.with({ 'If-Match': '"1"' });
    const answers: Answer[] = [];
    await atOnce(times(8, String), async (title) => {
      answers.push(await guarded.patch(`${path}/${way}`, { title }));
    });
    expect(countStatuses(answers)).toEqual({ 200: 1, 412: 7 });
    expect(tagOf(await api.get(path))).toBe('"2"');
  });

  it.each(NO_CHANGES)('is honoured by %s, which leaves the row as it is', async (way) => {
    const path = await aNote();
    const refused = await api.with({ 'If-Match': '"77"' }).patch(`${path}/${way}`, { title: 'changed' });
    expectError(refused, 'PRECONDITION_FAILED');
    expect(tagOf(refused)).toBe('"1"');
    const accepted = await api.with({ 'If-Match': '"1"' }).patch(`${path}/${way}`, { title: 'changed' });
    expect([accepted.status, tagOf(accepted)]).toEqual([200, '"1"']);
  });

  it.each(REFUSED)('is not passed over by %s: it fails, and the log says what to do', async (way) => {
    const path = await aNote();
    api.app.log.splice(0);
    const refused = await api.with({ 'If-Match': '"1"' }).patch(`${path}/${way}`, { title: 'changed' });
    expectError(refused, 'INTERNAL_ERROR');
    expect(JSON.stringify(api.app.log)).toContain("doesn't compare the version that If-Match or If-None-Match names");
    expect(JSON.stringify(api.app.log)).toContain('Use updateRow()');
    expect((await api.get(path)).body.data.title).toBe('as it was');
    // Without one there is nothing to honour.
    expect((await api.patch(`${path}/${way}`, { title: 'changed' })).body.data.title).toBe('changed');
  });

  it.each(REMOVALS)('is honoured by %s', async (way) => {
    const path = await aNote();
    const refused = await api.with({ 'If-Match': '"77"' }).delete(`${path}/${way}`);
    expectError(refused, 'PRECONDITION_FAILED');
    expect(tagOf(refused)).toBe('"1"');
    expect((await api.get(path)).status).toBe(200);
    expect((await api.with({ 'If-Match': '"1"' }).delete(`${path}/${way}`)).status).toBe(204);
    expect(expectError(await api.get(path), 'NOT_FOUND').message).toBe('Sticky note not found');
  });

  it('is not passed over by a statement in SQL that deletes', async () => {
    const path = await aNote();
    expectError(await api.with({ 'If-Match': '"1"' }).delete(`${path}/raw`), 'INTERNAL_ERROR');
    expect((await api.get(path)).status).toBe(200);
  });

  it('finds no row of a table without versions in the way', async () => {
    const path = await aNote();
    const answer = await api.with({ 'If-Match': '"1"' }).patch(`${path}/raw-elsewhere`, { title: 'changed' });
    expect([answer.status, tagOf(answer)]).toEqual([200, '"2"']);
  });

  it.each(['helper', 'save', 'touch', 'tags', 'no-columns'])('comes after 404 in %s', async (way) => {
    const answer = await api.with({ 'If-Match': '"1"' }).patch(`/sticky-notes/999999/${way}`, { title: 'x' });
    expectError(answer, 'NOT_FOUND');
  });
});
