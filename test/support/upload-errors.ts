import { Client as PgClient } from 'pg';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, type Client, query } from '../../src/platform/testing';
import { aProduct } from './builders';
import { exampleOf, send } from './documented-operation';
import type { Fixtures } from './fixtures';
import type { Operation } from './openapi';

const MEBIBYTE = 1024 * 1024;
const UPLOAD = '/api/v1/uploads/{key}';

interface Asked {
  headers?: Record<string, string>;
  /** The values of the path's parameters. Default: the examples */
  ids?: Record<string, string>;
  /** Null for none. Default: the example */
  body?: unknown;
  /** Default: the owner */
  by?: Client;
}

interface Context {
  own: Fixtures;
  owner: Client;
  admin: Client;
  operation: (name: string) => Operation;
  /** Records what came of a request. */
  provoke: (name: string, answer: Promise<Answer>) => Promise<void>;
  whileLocked: (key: string, work: () => Promise<unknown>) => Promise<void>;
}

/** Sends requests that get each error that the document promises of uploads. */
export async function provokeErrorsOfUploads(context: Context): Promise<void> {
  const { own, owner, operation, provoke } = context;
  const ask = (name: string, { headers = {}, ids, body = exampleOf(operation(name)), by = owner }: Asked) =>
    provoke(name, send(by.with(headers), operation(name), body ?? undefined, ids));
  await provokeErrorsOfTus(context, ask);
  await provokeErrorsOfReaders(context, ask);
  await query(own.api.app.databaseUrl, 'DELETE FROM uploads WHERE user_id = $1', [own.owner.id]);
  await own.upload({ size: 20 * 1024 * MEBIBYTE });
  await ask('POST /api/v1/uploads', { headers: { 'Upload-Length': '1' }, body: null });
}

type Ask = (name: string, asked: Asked) => Promise<void>;

async function provokeErrorsOfTus({ own, whileLocked }: Context, ask: Ask): Promise<void> {
  const [create, append, remove, read] = [
    'POST /api/v1/uploads',
    `PATCH ${UPLOAD}`,
    `DELETE ${UPLOAD}`,
    `GET ${UPLOAD}`,
  ];
  const wrong = { 'Upload-Checksum': `sha256 ${'A'.repeat(43)}=` };
  const key = String((await own.upload()).key);
  await ask(create, { headers: { 'Upload-Length': String(5 * 1024 * MEBIBYTE + 1) }, body: null });
  for (const one of [create, append]) await ask(one, { headers: wrong, ids: { key } });
  await ask(create, { headers: { 'Upload-Length': '1' }, body: Buffer.from('two') });
  await ask(append, { ids: { key }, body: Buffer.from('two') });
  for (const one of [create, append, read, remove]) {
    await ask(one, { headers: { 'Tus-Resumable': '0.2.2' }, ids: { key }, body: null });
  }
  await ask(append, { headers: { 'Upload-Offset': '1' }, ids: { key } });
  const begun = String((await own.upload()).key);
  rmSync(fileOf(begun));
  await ask(append, { ids: { key: begun } });
  await whileLocked(key, () => Promise.all([append, remove].map((one) => ask(one, { ids: { key } }))));
}

async function provokeErrorsOfReaders({ own, owner, admin }: Context, ask: Ask): Promise<void> {
  const [content, links, visibility] = [`GET ${UPLOAD}/content`, `POST ${UPLOAD}/links`, `PUT ${UPLOAD}/visibility`];
  const { databaseUrl } = own.api.app;
  const late = { key: String((await own.upload({ expires_at: new Date(0) })).key) };
  for (const name of [`PATCH ${UPLOAD}`, `GET ${UPLOAD}`, content, links, visibility]) await ask(name, { ids: late });
  const unfinished = { key: String((await own.upload()).key) };
  for (const name of [content, links]) await ask(name, { ids: unfinished });
  const key = String((await own.upload({ status: 'COMPLETE', size: MEBIBYTE })).key);
  const { url } = (await owner.post(`/uploads/${key}/links`, {})).body.data as { url: string };
  const link = url.split('/').at(-1)!;
  const reads = [content, `GET ${UPLOAD}/links/{link}`];
  for (const name of reads) await ask(name, { headers: { Range: `bytes=${MEBIBYTE}-` }, ids: { key, link } });
  rmSync(fileOf(key));
  for (const name of reads) await ask(name, { ids: { key, link } });

  const setStatus = 'UPDATE users SET status = $2 WHERE id = $1';
  await query(databaseUrl, setStatus, [own.owner.id, 'SUSPENDED']);
  await ask(links, { ids: { key }, by: admin });
  await query(databaseUrl, setStatus, [own.owner.id, 'ACTIVE']);

  const asPicture = "UPDATE uploads SET visibility = 'PUBLIC', media_type = 'image/png' WHERE key = $1";
  await query(databaseUrl, asPicture, [key]);
  const { id } = (await admin.post('/products', aProduct({ image: key }))).body.data;
  await ask(visibility, { ids: { key }, body: { visibility: 'PRIVATE' } });
  await ask(`DELETE ${UPLOAD}`, { ids: { key } });
  await admin.delete(`/products/${id}`);
}

const fileOf = (key: string) => join(process.env.TEST_DIRECTORY!, 'uploads', key);

/** Holds the lock of an upload during some work, as a request that writes to it. */
export const lockedBy =
  (databaseUrl: string) =>
  async (key: string, work: () => Promise<unknown>): Promise<void> => {
    const client = new PgClient({ connectionString: databaseUrl });
    await client.connect();
    await client.query(`SELECT pg_advisory_lock(hashtextextended('resource-api: upload ' || $1, 0))`, [key]);
    await work().finally(() => client.end());
  };
