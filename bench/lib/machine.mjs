import { execFileSync } from 'node:child_process';
import { arch, cpus, platform, totalmem } from 'node:os';

const GIB = 2 ** 30;

/**
 * What a reader needs to compare results. It doesn't identify the machine. `node` is the binary that the servers run
 * on.
 */
export async function describeMachine(client, node) {
  const { rows } = await client.query("SELECT current_setting('server_version') AS version");
  const [{ model }] = cpus();
  return {
    cpu: `${cpus().length} cores of ${model.trim()}, ${Math.round(totalmem() / GIB)} GiB, ${platform()} ${arch()}`,
    node: execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim(),
    postgres: rows[0].version.split(' ')[0],
    date: new Date().toISOString().slice(0, 10),
  };
}
