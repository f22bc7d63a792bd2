// node mirror.mjs URL FOLDER [once]: keeps FOLDER/mirror.json equal to the products, posts and comments of the service.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createClient } from 'resource-api-client';

const [url, folder, once] = process.argv.slice(2);
const [file, session] = [`${folder}/mirror.json`, `${folder}/session.json`];
const load = (name) => (existsSync(name) ? JSON.parse(readFileSync(name, 'utf8')) : undefined);
const save = (name, content) => {
  writeFileSync(`${name}.new`, JSON.stringify(content), { mode: 0o600, flush: true });
  renameSync(`${name}.new`, name); // The old file or the new one, never half of one.
};
const store = { read: () => load(session), write: (tokens) => (tokens ? save(session, tokens) : rmSync(session)) };
const client = createClient({ url, store });
if (!load(session)) await client.session.signIn({ username: 'grace', password: 'demo-password' });

async function copyAll() {
  const { data } = await client.GET('/changes', { params: { query: { cursor: 'now' } } }); // Before anything is read.
  const rows = { products: {}, posts: {}, comments: {} };
  for (const type in rows) for await (const row of client[type].all({ size: 100 })) rows[type][row.id] = row;
  return { mark: data.next, rows };
}
const { mark: from, rows } = load(file) ?? (await copyAll());
const wanted = { from, types: Object.keys(rows), include: 'resource', follow: !once };
try {
  for await (const { changes, mark } of client.changes(wanted).pages()) {
    for (const { type, id, resource } of changes) rows[type][id] = resource ?? undefined; // JSON leaves undefined out.
    save(file, { mark, rows }); // The rows and their mark in one step.
  }
} catch (error) {
  if (error.code !== 'CHANGES_EXPIRED') throw error;
  rmSync(file); // The next run copies all again.
}
