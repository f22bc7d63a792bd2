// A client of the tus protocol in a process of its own, which can be killed: sends a file, and prints what it asks.
import { createReadStream, statSync } from 'node:fs';
import { Upload } from 'tus-js-client';

const [file, endpoint, token, uploadUrl] = process.argv.slice(2);
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const upload = new Upload(createReadStream(file), {
  endpoint,
  uploadUrl: uploadUrl || null,
  uploadSize: statSync(file).size,
  chunkSize: 1024 * 1024,
  headers: { Authorization: `Bearer ${token}` },
  retryDelays: [100, 500, 1_000, 2_000],
  onAfterResponse: (request, response) => {
    const offset = request.getHeader('Upload-Offset');
    const stored = response.getHeader('Upload-Offset');
    print({ method: request.getMethod(), status: response.getStatus(), offset, stored, url: upload.url });
  },
  onError: (error) => {
    process.stderr.write(`${error}\n`);
    process.exit(1);
  },
  onSuccess: () => process.exit(0),
});
upload.start();
