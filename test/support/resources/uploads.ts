import { LinkSeal } from '../../../src/uploads/links/link-seal';
import { Upload } from '../../../src/uploads/upload.entity';
import type { Fixtures } from '../fixtures';
import { plain, type PreparedRequest } from '../prepared-request';
import { common, each, type Resource } from '../resource';

const TUS = { 'Tus-Resumable': '1.0.0' };
const ofUpload =
  (status?: string) =>
  async (own: Fixtures): Promise<PreparedRequest> => ({ ids: [String((await own.upload({ status })).key)] });
/** Seconds, so many that the time until the expiry shows in no answer. */
const WEEK = 7 * 24 * 3_600;
const ofLink = async (own: Fixtures): Promise<PreparedRequest> => {
  const [key] = (await ofUpload('COMPLETE')(own)).ids!;
  const expiry = Math.floor(Date.now() / 1_000) + WEEK;
  return { ids: [key, own.api.app.nest.get(LinkSeal).seal(String(key), expiry)] };
};
export const uploads: Resource = {
  noun: 'uploads',
  requests: {
    'GET /api/v1/uploads': plain,
    'OPTIONS /api/v1/uploads': plain,
    'POST /api/v1/uploads': () => ({ headers: { ...TUS, 'Upload-Length': '1' } }),
    'OPTIONS /api/v1/uploads/:key': ofUpload(),
    'GET /api/v1/uploads/:key': ofUpload(),
    'GET /api/v1/uploads/:key/content': ofUpload('COMPLETE'),
    'PUT /api/v1/uploads/:key/visibility': async (own) => ({
      ...(await ofUpload()(own)),
      body: { visibility: 'PUBLIC' },
    }),
    'POST /api/v1/uploads/:key/links': async (own) => ({
      ...(await ofUpload('COMPLETE')(own)),
      body: { expires_in: 60 },
    }),
    'GET /api/v1/uploads/:key/links/:link': ofLink,
    'PATCH /api/v1/uploads/:key': async (own) => ({
      ...(await ofUpload()(own)),
      body: Buffer.from('x'),
      headers: { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
    }),
    'DELETE /api/v1/uploads/:key': ofUpload(),
  },
  access: `
  GET    /api/v1/uploads                              401    200    200    200        401      401
  OPTIONS /api/v1/uploads                             204    204    204    204        204      204
  POST   /api/v1/uploads                              401    201    201    201        401      401
  OPTIONS /api/v1/uploads/:key                        204    204    204    204        204      204
  GET    /api/v1/uploads/:key                         401    200    403    200        401      401
  GET    /api/v1/uploads/:key/content                 401    200    403    200        401      401
  PUT    /api/v1/uploads/:key/visibility              401    200    403    200        401      401
  POST   /api/v1/uploads/:key/links                   401    201    403    201        401      401
  GET    /api/v1/uploads/:key/links/:link             200    200    200    200        404      200
  PATCH  /api/v1/uploads/:key                         401    204    403    204        401      401
  DELETE /api/v1/uploads/:key                         401    204    403    204        401      401
`,
  collections: [
    {
      name: '/uploads',
      table: 'uploads',
      attributes: [
        ...common,
        ...['key', 'user_id', 'filename', 'media_type', 'size', 'offset', 'checksum', 'status', 'visibility'],
        'expires_at',
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
