import { arch, cpus, platform, totalmem } from 'node:os';

const GIB = 2 ** 30;

/**
 * What a reader needs to compare results. It doesn't identify the machine.
 * @param node the version that the servers run on
 */
export async function describeMachine(client, node) {
  const { rows } = await client.query("SELECT current_setting('server_version') AS version");
  const [{ model }] = cpus();
  return {
    cpu: `${cpus().length} cores of ${model.trim()}, ${Math.round(totalmem() / GIB)} GiB, ${platform()} ${arch()}`,
    node,
    postgres: rows[0].version.split(' ')[0],
    date: new Date().toISOString().slice(0, 10),
  };
}
