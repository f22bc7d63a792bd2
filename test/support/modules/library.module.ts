import { pipeline, Transform } from 'node:stream';
import { Controller, Get, Header, Module, Param, StreamableFile } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Produces, Public, seconds, TakesUpTo } from '../../../src/platform';
import { ClosureGenre, entities, Library, PathGenre, qb, SetGenre } from './library';
import { TECHNIQUES } from './read-techniques';

@Controller('library')
@Public()
class LibraryController {
  constructor(private readonly library: Library) {}

  @Get('by/:technique')
  async by(@Param('technique') technique: string): Promise<object> {
    return { result: await TECHNIQUES[technique][0](this.library) };
  }

  @Get('trees/:kind')
  async trees(@Param('kind') kind: string): Promise<object> {
    const entity = { path: PathGenre, closure: ClosureGenre, set: SetGenre }[kind]!;
    const trees = this.library.database.getTreeRepository<PathGenre>(entity);
    const root = await trees.findOneByOrFail({ name: 'fiction' });
    const leaf = await trees.findOneByOrFail({ name: 'space opera' });
    const names = (genres: PathGenre[]) => genres.map(({ name }) => name).sort();
    return {
      roots: names(await trees.findRoots()),
      tree: (await trees.findDescendantsTree(root)).children.map(({ name, children }) => [name, names(children)]),
      descendants: await trees.countDescendants(root),
      ancestors: names(await trees.findAncestors(leaf)),
    };
  }

  @Get('export')
  @Produces('text/csv')
  @Header('Content-Type', 'text/csv')
  @TakesUpTo(seconds(20))
  export(): Promise<StreamableFile> {
    return this.rows();
  }

  @Get('short-export')
  @Produces('text/csv')
  @Header('Content-Type', 'text/csv')
  shortExport(): Promise<StreamableFile> {
    return this.rows();
  }

  /** By pipeline(), which hands an error on: pipe() alone leaves it to whoever listens to the rows, or to the process. */
  private async rows(): Promise<StreamableFile> {
    const query = qb(this.library).select('book.title', 'title').addSelect('pg_sleep(1)');
    const rows = await query.orderBy('book.id').stream();
    const lines = new Transform({
      writableObjectMode: true,
      transform: ({ title }: { title: string }, _encoding, done) => done(null, `${title}\n`),
    });
    return new StreamableFile(pipeline(rows, lines, () => undefined));
  }
}

@Module({ imports: [TypeOrmModule.forFeature(entities)], controllers: [LibraryController], providers: [Library] })
export class LibraryModule {}
