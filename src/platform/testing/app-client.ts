import { DataSource, type EntityTarget, type ObjectLiteral, type Repository } from 'typeorm';
import { Client, type Inspect } from './client';
import type { TestApp } from './test-app';

/** A running application, and requests to it: without a token, or as the bearer of one. */
export class AppClient extends Client {
  app: TestApp;

  /** @param inspect sees each answer. Default: nothing does */
  constructor(inspect?: Inspect) {
    super(() => this.url, {}, inspect);
  }

  get url(): string {
    return `http://127.0.0.1:${this.app.port}`;
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.app.nest.get(DataSource).getRepository(entity);
  }

  as({ token }: { token: string }): Client {
    return this.with({ Authorization: `Bearer ${token}` });
  }
}

/** Starts the application before the tests of a file, and stops it after them. */
export function useApp<C extends AppClient>(client: C, start: () => Promise<TestApp>): C {
  beforeAll(async () => {
    client.app = await start();
  });
  afterAll(() => client.app?.stop());
  return client;
}
