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
} from '../../../src/platform';

@Entity('note_tags')
export class NoteTag {
  @PrimaryGeneratedColumn('identity')
  id: number;

  @Column()
  text: string;
}

@Entity('sticky_notes')
export class StickyNote extends ResourceEntity {
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
export class NoteLine extends ResourceEntity {
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
    'locked-and-upsert': (id, title) =>
      this.database.transaction(async (manager) => {
        const lock = { mode: 'pessimistic_write' } as const;
        requireExpected(await manager.findOneOrFail(StickyNote, { where: { id }, lock }));
        await manager.upsert(StickyNote, { id, title }, ['id']);
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
    'or-update': (id, title) =>
      this.notes.createQueryBuilder().insert().values({ id, title }).orUpdate(['title'], ['id']).execute(),
    'raw-upsert': (id, title) =>
      this.database.query(
        'INSERT INTO sticky_notes (id, title) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET title = excluded.title',
        [id, title],
      ),
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
export class NotesModule {}
