import { Upload } from '../../../src/uploads/upload.entity';
import type { Fixtures } from '../fixtures';
import { plain, type PreparedRequest } from '../prepared-request';
import { common, each, type Resource } from '../resource';

const TUS = { 'Tus-Resumable': '1.0.0' };
const ofUpload =
  (status?: string) =>
  async (own: Fixtures): Promise<PreparedRequest> => ({ ids: [String((await own.upload({ status })).key)] });
export const uploads: Resource = {
  noun: 'uploads',
  requests: {
    'GET /api/v1/uploads': plain,
    'OPTIONS /api/v1/uploads': plain,
    'POST /api/v1/uploads': () => ({ headers: { ...TUS, 'Upload-Length': '1' } }),
    'OPTIONS /api/v1/uploads/:key': ofUpload(),
    'GET /api/v1/uploads/:key': ofUpload(),
    'GET /api/v1/uploads/:key/content': ofUpload('COMPLETE'),
    'PATCH /api/v1/uploads/:key': async (own) => ({
      ...(await ofUpload()(own)),
      body: Buffer.from('x'),
      headers: { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
    }),
    'DELETE /api/v1/uploads/:key': ofUpload(),
  },
  collections: [
    {
      name: '/uploads',
      table: 'uploads',
      attributes: [
        ...common,
        ...['key', 'user_id', 'filename', 'media_type', 'size', 'offset', 'checksum', 'status', 'expires_at'],
      ],
      sortable: Upload,
      statuses: ['UPLOADING', 'COMPLETE'],
      textsOf: ({ filename }) => [filename],
      fill: (own, others, lines) =>
        each(lines, ({ text, even, dates }) => {
          return (even ? own : others).upload({ filename: text, status: even ? 'COMPLETE' : 'UPLOADING', ...dates });
        }),
    },
  ],
};
