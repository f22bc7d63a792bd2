// Takes traces and keeps none.
import { createServer } from 'node:http';

/** @returns the URL of a receiver by OTLP over HTTP, which ends with the run */
export async function startReceiver(cleanUp) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('Content-Type', 'application/x-protobuf').end());
  });
  server.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  cleanUp.add(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  return `http://127.0.0.1:${server.address().port}`;
}
