import { arch, cpus, platform, totalmem } from 'node:os';

const GIB = 2 ** 30;

/** What a reader must know to compare; nothing that names the machine. */
export async function describeMachine(client) {
  const { rows } = await client.query("SELECT current_setting('server_version') AS version");
  const [{ model }] = cpus();
  return {
    cpu: `${cpus().length} cores of ${model.trim()}, ${Math.round(totalmem() / GIB)} GiB, ${platform()} ${arch()}`,
    node: process.version.slice(1),
    postgres: rows[0].version.split(' ')[0],
    date: new Date().toISOString().slice(0, 10),
  };
}
