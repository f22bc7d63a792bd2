import { counter, gauge } from '../platform/features';

/** What a request does with the bytes of an upload. */
export type Kind = 'write' | 'read' | 'removal';

const KINDS = (['write', 'read', 'removal'] as const).map((kind) => ({ kind }));

export const underWay = gauge(
  'api_uploads_under_way',
  'Requests for bytes of uploads that run, by kind.',
  ['kind'],
  KINDS,
);

/** `in` from clients, `out` to them. */
export const uploadBytes = counter(
  'api_upload_bytes_total',
  'Bytes of uploads, in from clients and out to them.',
  ['direction'],
  [{ direction: 'in' }, { direction: 'out' }],
);
