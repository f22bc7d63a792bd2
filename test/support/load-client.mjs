// A client in a process of its own: keeps a service busy until its port is closed, and counts the results. Started by
// load.ts, which passes the requests as an argument; reports to it by IPC. Plain JavaScript, so that it starts at once.
import { Agent, request } from 'node:http';

/** After this number of answers the load counts as running. */
const WARM = 200;
/** The time limit of a request in milliseconds. */
const PATIENCE = 120_000;

const { port, method, path, headers, body, connections, keepAlive } = JSON.parse(process.argv[2]);
const report = { answered: {}, closed: 0, refused: 0, lost: [] };
const deadline = Date.now() + PATIENCE;
let answers = 0;

/** Resolves to the complete answer. */
function ask(agent) {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('close', () => {
        if (!response.complete) return reject(new Error(`half an answer: ${response.statusCode}`));
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function count({ status, headers: { connection }, text }) {
  JSON.parse(text);
  report.answered[status] = (report.answered[status] ?? 0) + 1;
  if (connection === 'close') report.closed++;
  if (++answers === WARM) process.send({ warm: true });
}

/** One connection after the other, until there is nobody to connect to. */
async function keepBusy() {
  const agent = keepAlive ? new Agent({ keepAlive: true, maxSockets: 1 }) : false;
  while (Date.now() < deadline) {
    try {
      count(await ask(agent));
    } catch (error) {
      // Nothing was sent when nobody listened; everything else was taken and not answered.
      if (error.code === 'ECONNREFUSED') return report.refused++;
      report.lost.push(`${error.code ?? ''} ${error.message}`);
    }
  }
}

await Promise.all(Array.from({ length: connections }, keepBusy));
process.send({ report }, () => process.disconnect());
