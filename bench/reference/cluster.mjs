// Runs a server in several processes, which share its port.
import cluster from 'node:cluster';
import { pathToFileURL } from 'node:url';

const { SCRIPT, PROCESSES } = process.env;

if (cluster.isPrimary) {
  for (let number = 0; number < Number(PROCESSES); number++) cluster.fork();
  process.once('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
    process.exit();
  });
} else {
  await import(pathToFileURL(SCRIPT).href);
}
