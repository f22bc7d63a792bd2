import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { LessThan } from 'typeorm';
import { type Answer, type Client, expectErrorEnvelope } from '../../src/platform/testing';
import { isRecognisable } from '../../src/resources/users/username';
import { Comment } from '../../src/resources/comments/comment.entity';
import { PostStatus } from '../../src/resources/posts/post.entity';
import { Product } from '../../src/resources/products/product.entity';
import { CHUNK_TYPE } from '../../src/uploads/tus/upload-headers';
import { aPost, aProduct } from '../support/builders';
import { ALL_ARE_ASKED } from '../support/asked';
import { Fixtures } from '../support/fixtures';
import { type FuzzRequest, FuzzRequests } from '../support/fuzz-requests';
import { Document, type Node } from '../support/openapi';
import { isAsked } from '../support/requests';
import { WRITABLES } from '../support/resources';
import { PLACES } from '../support/tested-places';
import { useTestApi } from '../support/test-api';

/** In all; `npm run fuzz` sends more. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_000);
/** Chosen anew by each run, and printed when it fails. */
const SEED = process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED);
const VERSIONS = [1, 2];
/** Half of them valid, half of them not. */
const RUNS = Math.ceil(REQUESTS / (2 * VERSIONS.length));
/** An order of the most pieces that there can be still has a total that can be stored. */
const AFFORDABLE = 1_000_000;
/** The size of an upload: some fit, and some are too large. */
const MAX_UPLOAD_SIZE = 1_024;
const PATIENCE = 60_000 + REQUESTS * 50;

/** What makes a request valid, and no schema can say. */
const UNSAID: Record<string, (request: FuzzRequest) => void> = {
  'a parameter and its other name must agree'({ query }) {
    if ('size' in query) delete query.limit;
    if ('sort' in query) delete query.sortBy;
  },
  'usernames are visible and of one script'({ operation, body }) {
    const user = body as { username?: string } | undefined;
    if (/ \/api\/v\d\/users/.test(operation) && user?.username !== undefined && !isRecognisable(user.username)) {
      user.username = `user${(names += 1)}`;
    }
  },
  'cursors are made by the service alone'({ query }) {
    delete query.cursor;
  },
  "others' e-mail addresses and roles can be asked for by administrators alone"({ operation, caller, query }) {
    if (!/ \/api\/v\d\/users/.test(operation) || caller === 'admin') return;
    if (/\b(email|roles)\b/.test(query.fields ?? '')) delete query.fields;
    for (const name of ['sort', 'sortBy']) if (query[name] === 'email') delete query[name];
  },
  'deleted items can be asked for by administrators alone'({ caller, query }) {
    if (caller !== 'admin') delete query.deleted;
  },
  'types of changes are resources, and nobody waits here'({ operation, query }) {
    if (!/ \/api\/v\d\/changes/.test(operation)) return;
    delete query.wait;
    if ('types' in query) query.types = 'products';
  },
  'a user shows only pictures of its own, and a new user has none'({ operation, body }) {
    const user = body as { image?: string | null } | undefined;
    if (/ \/api\/v\d\/users/.test(operation) && user?.image) user.image = null;
  },
  'a webhook has types of changes, and a URL that is open to webhooks'({ operation, body }) {
    const webhook = body as { url?: string; types?: string[] } | undefined;
    if (!/ \/api\/v\d\/webhooks/.test(operation)) return;
    // No name server is asked for this name.
    if (webhook?.url !== undefined) webhook.url = 'https://hooks.localhost/';
    if (webhook?.types !== undefined) webhook.types = ['products'];
  },
  'what is said of a file is pairs of a name and a value in Base64'({ header }) {
    const said = header['Upload-Metadata'];
    if (said === undefined) return;
    header['Upload-Metadata'] = `filename ${Buffer.from(said.slice(0, 255)).toString('base64')}`;
  },
  'bytes go on where their upload stands, and have the checksum that they say'({ header, body }) {
    if ('Upload-Offset' in header) header['Upload-Offset'] = '0';
    if ('Upload-Checksum' in header) header['Upload-Checksum'] = checksumOf(body as Uint8Array);
  },
};

let names = 0;
const checksumOf = (bytes: Uint8Array) => `sha256 ${createHash('sha256').update(bytes).digest('base64')}`;
const ofUpload = ({ operation }: FuzzRequest) => operation.includes('/uploads/{key}');

describe('The service, sent what its document says and what it does not,', () => {
  const api = useTestApi({
    settings: {
      ...{ DEMO_DATA: 'true', REDIS_URL: '' },
      ...{ MAX_UPLOAD_SIZE: String(MAX_UPLOAD_SIZE), MIN_FREE_DISK: '0' },
    },
  });
  let successes = 0;
  let callers: Record<FuzzRequest['caller'], Client>;
  let own: Fixtures;

  const renewCallers = async () => {
    const user = await api.user();
    own = new Fixtures(api, user);
    callers = { anonymous: api, user: api.as(user), admin: api.as(await api.admin()) };
  };
  beforeAll(renewCallers);

  it.each(VERSIONS)(
    'never refuses a valid request of version %i as invalid',
    async (version) => {
      successes = 0;
      await fuzz(requestsOf(version).valid(), async (request) => {
        Object.values(UNSAID).forEach((rule) => rule(request));
        await nameRowsThatExist(request);
        if (ofUpload(request)) await nameUpload(request);
        const answer = await send(request);
        expectHonest(answer);
        expect(answer).not.toMatchObject({ status: 400 });
        if (answer.status < 300) successes++;
      });
      // Most others are for want of rights or rows.
      expect(successes).toBeGreaterThan(ALL_ARE_ASKED ? RUNS / 5 : 0);
    },
    PATIENCE,
  );

  it.each(VERSIONS)(
    'never does what an invalid request of version %i asks for',
    async (version) => {
      await fuzz(requestsOf(version).invalid(), async (request) => {
        if (ofUpload(request) && request.broken !== 'path key') await nameUpload(request);
        const answer = await send(request);
        expectHonest(answer);
        expect(answer.status).toBeGreaterThanOrEqual(400);
      });
    },
    PATIENCE,
  );

  function requestsOf(version: number): FuzzRequests {
    const { paths, ...rest } = JSON.parse(
      readFileSync(`${PLACES.documents}/openapi.v${version}.json`, 'utf8'),
    ) as Record<string, Node>;
    const asked = Object.entries<Node>(paths as object).flatMap(([path, item]) => {
      const route = path.replace('/api/v2/', '/api/v1/').replaceAll(/\{(\w+)\}/g, ':$1');
      const own = Object.entries<Node>(item as object).filter(([method]) =>
        isAsked(`${method.toUpperCase()} ${route}`),
      );
      return own.length > 0 ? [[path, Object.fromEntries(own)]] : [];
    });
    return new FuzzRequests(new Document({ ...rest, paths: Object.fromEntries(asked) }));
  }

  function fuzz(requests: fc.Arbitrary<FuzzRequest>, check: (request: FuzzRequest) => Promise<void>): Promise<void> {
    return fc.assert(fc.asyncProperty(requests, check), { numRuns: RUNS, seed: SEED, includeErrorInReport: true });
  }

  /** Nor can a schema say that what a body refers to is there, that a product stands in one line, and what all cost. */
  async function nameRowsThatExist({ operation, body }: FuzzRequest): Promise<void> {
    await nameRowsOfReferences(operation, body);
    const { items, comment_id } = (body ?? {}) as { items?: { product_id: number }[]; comment_id?: number };
    if (items) {
      items.splice(1);
      items[0].product_id = await idOfProduct();
    }
    if (comment_id !== undefined) (body as { comment_id: number }).comment_id = await idOfComment();
  }

  /** As the resource's description makes them. */
  async function nameRowsOfReferences(operation: string, body: unknown): Promise<void> {
    const noun = operation.split('/').findLast((part) => !part.startsWith('{'));
    const attributes = WRITABLES.find((one) => one.noun === noun)?.attributes ?? {};
    for (const [name, value] of Object.entries((body ?? {}) as Record<string, unknown>)) {
      const { make, isList, by = 'id' } = attributes[name] ?? {};
      if (!make || value === null || value === undefined) continue;
      const row = await make(own);
      (body as Record<string, unknown>)[name] = isList ? [row[by]] : row[by];
    }
  }

  /** One that waits for the bytes that the request may bring, of a user who may be somebody else. */
  async function nameUpload({ path, body }: FuzzRequest): Promise<void> {
    const headers = {
      'Tus-Resumable': '1.0.0',
      'Upload-Length': String((body as Uint8Array | undefined)?.length ?? 0),
    };
    path.key = (await callers.user.post('/uploads', undefined, headers)).body.data.key;
  }

  async function idOfProduct(): Promise<number> {
    const [product] = await api.repository(Product).find({ where: { price: LessThan(AFFORDABLE) }, take: 1 });
    return product?.id ?? (await callers.admin.post('/products', aProduct())).body.data.id;
  }

  async function idOfComment(): Promise<number> {
    const [comment] = await api
      .repository(Comment)
      .createQueryBuilder('comment')
      .innerJoin('posts', 'post', 'post.id = comment.post_id AND post.status = :status', {
        status: PostStatus.PUBLISHED,
      })
      .limit(1)
      .getMany();
    if (comment) return comment.id;
    const post = (await callers.admin.post('/posts', aPost())).body.data;
    return (await callers.admin.post(`/posts/${post.id}/comments`, { content: 'x' })).body.data.id;
  }

  async function send({ caller, operation, path, query, header, body }: FuzzRequest): Promise<Answer> {
    const [method, pattern] = operation.split(' ');
    const place = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name]));
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const type = body instanceof Uint8Array && { 'Content-Type': CHUNK_TYPE };
    const headers = { ...header, ...type };
    const answer = await callers[caller].send(method, `/${place}?${search.join('&')}`, body, headers);
    // Whoever was suspended, deleted or made a user meanwhile can't be asked any more.
    if (answer.status === 401 || (method !== 'GET' && pattern.includes('/users/'))) await renewCallers();
    return answer;
  }

  function expectHonest(answer: Answer): void {
    expect(answer.status).toBeLessThan(500);
    // The one plain text that there is.
    const plain = answer.status === 429 && answer.headers.get('content-type')?.startsWith('text/plain');
    if (answer.status >= 400 && !plain) expectErrorEnvelope(answer);
  }
});
