import type { EntitySchema, EntityTarget, ObjectLiteral, Repository } from 'typeorm';
import { dataSourceOptions } from '../../src/platform/programs';
import { ApiDataSource } from '../../src/platform/database/api-data-source';
import { cloneTemplate, readSettings } from '../../src/platform/testing';

type EntityClass = (new () => object) | EntitySchema;

/** The service's own data source, on a database of the test's, with tables for entities of the test's. */
export class ScratchDatabase {
  database: ApiDataSource;
  private drop: () => Promise<void>;

  async start(entities: EntityClass[], subscribers: (new () => object)[] = []): Promise<void> {
    const { url, drop } = await cloneTemplate();
    this.drop = drop;
    const settings = readSettings({ NODE_ENV: 'test', DATABASE_URL: url, DATA_DIR: process.env.TEST_DIRECTORY });
    this.database = new ApiDataSource({
      ...dataSourceOptions(settings, url),
      entities,
      subscribers,
    });
    await this.database.initialize();
    const schemas = new Set(this.database.entityMetadatas.map(({ schema }) => schema));
    for (const schema of schemas) if (schema) await this.database.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    await this.database.synchronize();
    for (const { tableType, tablePath, tableName, columns } of this.database.entityMetadatas) {
      if (tableType !== 'regular' || !columns.some(({ propertyName }) => propertyName === 'version')) continue;
      await this.database.query(
        `CREATE TRIGGER "${tableName}_touch" BEFORE UPDATE ON ${tablePath} FOR EACH ROW EXECUTE FUNCTION touch_row()`,
      );
    }
  }

  async stop(): Promise<void> {
    await this.database?.destroy();
    await this.drop?.();
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.database.getRepository(entity);
  }

  /** A column of a row as PostgreSQL writes it. */
  async stored(table: string, column: string, id: number): Promise<string | null> {
    const rows: { text: string | null }[] = await this.database.query(
      `SELECT "${column}"::text AS text FROM "${table}" WHERE id = $1`,
      [id],
    );
    return rows[0].text;
  }
}

export function useScratchDatabase(entities: EntityClass[], subscribers?: (new () => object)[]): ScratchDatabase {
  const scratch = new ScratchDatabase();
  beforeAll(() => scratch.start(entities, subscribers));
  afterAll(() => scratch.stop());
  return scratch;
}
