import { createServer, type AddressInfo } from 'node:net';
import { DataSource } from 'typeorm';
import { readSettings } from '../../src/platform/config/read-settings';
import { dataSourceOptions } from '../../src/platform/database/data-source';
import { impersonators } from '../support/postgres-impersonator';

describe('A database that is silent once it has let the client in', () => {
  const server = createServer(impersonators['is silent once it has let the client in']);

  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('is given up after ten seconds, and its connection closed', async () => {
    const { port } = server.address() as AddressInfo;
    const source = new DataSource(dataSourceOptions(readSettings({}), `postgres://any@127.0.0.1:${port}/any`));
    await expect(source.initialize()).rejects.toThrow('no connection');
    expect(await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))).toBe(0);
  });
});
