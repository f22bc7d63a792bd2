import { DataSource, type EntityMetadata } from 'typeorm';
import type { Answer, Client } from '../../src/platform/testing';
import { parametersOf } from './documented-filters';
import { Fixtures, type Row } from './fixtures';
import type { Node } from './openapi';
import { type Collection, linesOf, type Place } from './resource';
import type { TestApi } from './test-api';

export const VERSIONS = ['v1', 'v2'];
const LINES = ['pear', 'apple', 'plum', 'quince', 'cherry', 'lime'];
const NDJSON = 'application/x-ndjson';

export type Item = Record<string, unknown> & { id: number; updated_at: string };

export const idsOf = ({ body }: Answer): number[] => (body.data as Item[]).map(({ id }) => id);

/** Collections with rows, what the documents say of them, and who reads them. */
export class FilledLists {
  admin: Client;
  /** Those who are no administrators. */
  others: Client[];
  /** The ids of the users who send requests. */
  users: number[];
  private readonly documents: Record<string, Node> = {};
  private readonly places: Record<string, Partial<Place>> = {};

  constructor(private readonly api: TestApi) {}

  async fill(collections: Pick<Collection, 'name' | 'fill'>[]): Promise<void> {
    for (const version of VERSIONS) {
      this.documents[version] = (await this.api.get(version === 'v1' ? '//docs/json' : '//docs/v2/json')).body;
    }
    const [administrator, user, other] = [await this.api.admin(), await this.api.user(), await this.api.user()];
    this.admin = this.api.as(administrator);
    this.others = [this.api, this.api.as(user)];
    this.users = [administrator.id, user.id, other.id];
    const [own, others] = [new Fixtures(this.api, user), new Fixtures(this.api, other)];
    for (const { name, fill } of collections) this.places[name] = (await fill(own, others, linesOf(LINES))) ?? {};
  }

  query = (text: string, values: unknown[] = []): Promise<Row[]> =>
    this.api.app.nest.get(DataSource).query<Row[]>(text, values);

  entityOf = (table: string): EntityMetadata =>
    this.api.app.nest.get(DataSource).entityMetadatas.find(({ tableName }) => tableName === table)!;

  /** The column that tells deleted rows from the others. Undefined where deleted rows are gone. */
  deletionOf = (table: string): string | undefined => this.entityOf(table).deleteDateColumn?.databaseName;

  /** SQL for the rows that are not deleted. */
  presence(table: string): string {
    const deletion = this.deletionOf(table);
    return deletion ? `(${deletion} IS NULL)` : 'true';
  }

  /** Whether a document says that a list takes a parameter. */
  takes = (version: string, name: string, parameter: string): boolean =>
    parametersOf(this.documents[version], name, version).some((one) => one.name === parameter);

  /** The ids of the rows of a list that fulfil a condition in SQL, in the order of the ids. */
  async rowsOf(name: string, table: string, condition: string, values: unknown[] = []): Promise<number[]> {
    const { where = 'true' } = this.places[name];
    const rows = await this.query(`SELECT id FROM ${table} WHERE ${where} AND ${condition} ORDER BY id`, values);
    return rows.map(({ id }) => id);
  }

  list(name: string, parameters: string, version = 'v1', client = this.admin, headers = {}): Promise<Answer> {
    return client.get(`//api/${version}${this.places[name].path ?? name}?${parameters}`, headers);
  }

  /** The ids that a walk by cursors finds, two on a page. */
  async walk(name: string, parameters: string): Promise<number[]> {
    const ids: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const answer = await this.list(name, `${parameters}&size=2${cursor && `&cursor=${cursor}`}`, 'v2');
      expect(answer.status).toBe(200);
      ids.push(...idsOf(answer));
      cursor = answer.body.pagination.next as string | null;
    }
    return ids;
  }

  async exported(name: string, parameters: string): Promise<number[]> {
    const { text } = await this.list(name, parameters, 'v1', this.admin, { Accept: NDJSON });
    const lines = text.split('\n').slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as Item).id);
  }

  /** Expects the same rows in each form of a list, and their number in each version. */
  async expectRows(name: string, parameters: string, ids: number[]): Promise<void> {
    const page = await this.list(name, `${parameters}&size=100`);
    expect([parameters, idsOf(page)]).toEqual([parameters, ids]);
    expect([parameters, page.body.pagination.total]).toEqual([parameters, ids.length]);
    const counted = await this.list(name, `${parameters}&size=1&total=true`, 'v2');
    expect([parameters, counted.body.pagination.total]).toEqual([parameters, ids.length]);
    expect([parameters, await this.walk(name, parameters)]).toEqual([parameters, ids]);
    expect([parameters, await this.exported(name, parameters)]).toEqual([parameters, ids]);
    const asked = `${parameters}&size=100&fields=id`;
    const { text: xml } = await this.list(name, asked, 'v1', this.admin, { Accept: 'application/xml' });
    expect([...xml.matchAll(/<id[^>]*>(\d+)<\/id>/g)].map(([, id]) => Number(id))).toEqual(ids);
    const { text: csv } = await this.list(name, `${parameters}&fields=id`, 'v1', this.admin, { Accept: 'text/csv' });
    expect(csv.split('\r\n').slice(1, -1).map(Number)).toEqual(ids);
  }
}
