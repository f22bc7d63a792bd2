import { statSync } from 'node:fs';
import { type Client, countStatuses, expectError, query, times } from '../../src/platform/testing';
import { UploadSweep } from '../../src/uploads/upload-sweep';
import { aNewUser, aProduct } from '../support/builders';
import { Fixtures } from '../support/fixtures';
import { PICTURE, PICTURES } from '../support/pictures';
import { type TestUser, useTestApi } from '../support/test-api';
import { fileOf, keyOf, uploading } from '../support/uploading';

const UNKNOWN = '3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11';

describe('The image', () => {
  const api = useTestApi({ settings: { MIN_FREE_DISK: '0' } });
  let owner: TestUser;
  let own: Client;
  let admin: Client;

  beforeEach(async () => {
    owner = await api.user();
    own = api.as(owner);
    admin = api.as(await api.admin());
  });

  const { begin, uploaded } = uploading(api, () => owner);
  const publish = (path: string, visibility = 'PUBLIC') => own.put(`${path}/visibility`, { visibility });
  /** Returns the path of a public image. */
  async function picture(bytes: Buffer = PICTURE): Promise<string> {
    const path = await uploaded(bytes);
    expect((await publish(path)).status).toBe(200);
    return path;
  }
  const refused = (field: string) => expect.objectContaining({ field });

  describe('of a product', () => {
    const productWith = async (path: string) =>
      (await admin.post('/products', aProduct({ image: keyOf(path) }))).body.data;

    it('is null, or the key of a public image that everybody may load', async () => {
      const path = await picture();
      const { id, image, version } = await productWith(path);
      expect(image).toBe(keyOf(path));
      expect((await api.get(`/products/${id}`)).body.data.image).toBe(image);
      expect((await api.get('/products?sort=created_at&order=desc&size=1&fields=image')).body.data).toEqual([
        { image },
      ]);
      expect((await fetch(`${api.url}/api/v1/uploads/${image}/content`)).status).toBe(200);
      const changed = await admin.patch(`/products/${id}`, { image: null });
      expect(changed.body.data.image).toBeNull();
      if (version !== undefined) expect(changed.body.data.version).toBe(version + 1);
      expect((await admin.put(`/products/${id}`, aProduct({ image }))).body.data.image).toBe(image);
      expect((await admin.put(`/products/${id}`, aProduct())).body.data.image).toBeNull();
      expect((await admin.post('/products', aProduct())).body.data.image).toBeNull();
    });

    it.each(Object.keys(PICTURES))('may be of the type %s', async (type) => {
      expect((await productWith(await picture(PICTURES[type]))).image).toEqual(expect.any(String));
    });

    it('answers 400 for what is no public image: private, unfinished, of another type, or nothing', async () => {
      const [secret, unfinished, text] = [await uploaded(PICTURE), await begin(5), await uploaded(Buffer.from('text'))];
      for (const path of [unfinished, text]) expect((await publish(path)).status).toBe(200);
      const { id } = (await admin.post('/products', aProduct())).body.data;
      for (const image of [secret, unfinished, text, UNKNOWN].map(keyOf)) {
        const answers = [
          await admin.post('/products', aProduct({ image })),
          await admin.put(`/products/${id}`, aProduct({ image })),
          await admin.patch(`/products/${id}`, { image }),
        ];
        for (const answer of answers) {
          expectError(answer, 'VALIDATION_ERROR');
          expect(answer.body.error.fields).toEqual([refused('image')]);
        }
      }
    });

    it('stays: the upload is neither deleted nor made private (409) until nothing shows it', async () => {
      const path = await picture();
      const [one, other] = [await productWith(path), await productWith(path)];
      expectError(await own.delete(path), 'CONFLICT');
      expectError(await publish(path, 'PRIVATE'), 'CONFLICT');
      expect((await own.get(`${path}/content`)).status).toBe(200);

      expect((await admin.patch(`/products/${one.id}`, { image: null })).status).toBe(200);
      expectError(await own.delete(path), 'CONFLICT');
      expect((await admin.delete(`/products/${other.id}`)).status).toBe(204);
      expect((await publish(path, 'PRIVATE')).status).toBe(200);
      expectError(await admin.patch(`/products/${one.id}`, { image: keyOf(path) }), 'VALIDATION_ERROR');
      expect((await own.delete(path)).status).toBe(204);
    });

    it.each([
      ['deleted', (path: string) => own.delete(path)],
      ['made private', (path: string) => publish(path, 'PRIVATE')],
    ])('is there or isn’t named, however many name it while it is %s', async (_how, end) => {
      const products = await Promise.all(
        times(4, async () => (await admin.post('/products', aProduct())).body.data.id),
      );
      for (let round = 0; round < 8; round++) {
        const path = await picture();
        const name = products.map((id) => admin.patch(`/products/${id}`, { image: keyOf(path) }));
        const [ended, ...named] = await Promise.all([end(path), ...name]);

        expect(Object.keys(countStatuses(named)).filter((status) => !['200', '400'].includes(status))).toEqual([]);
        const isNamed = named.some(({ status }) => status === 200);
        if (isNamed) expectError(ended, 'CONFLICT');
        else expect(ended.status).toBeLessThan(300);
        expect((await api.get(`${path}/content`)).status).toBe(isNamed ? 200 : 401);
        for (const id of products) await admin.patch(`/products/${id}`, { image: null });
      }
    });

    it('is still shown when its owner is deleted, and goes with the owner’s uploads when nothing shows it', async () => {
      const [path, other] = [await picture(), await picture()];
      const { id } = await productWith(path);
      const sweep = () => api.app.nest.get(UploadSweep).sweep();
      const statuses = async () => [
        (await api.get(`${path}/content`)).status,
        (await api.get(`${other}/content`)).status,
      ];
      await query(api.app.databaseUrl, "UPDATE users SET deleted_at = now() - interval '2 days' WHERE id = $1", [
        owner.id,
      ]);
      await sweep();
      expect(await statuses()).toEqual([200, 401]);

      await admin.patch(`/products/${id}`, { image: null });
      await sweep();
      expect(await statuses()).toEqual([401, 401]);
      expect(() => readSize(path)).toThrow();
    });
  });

  describe('of a user', () => {
    const setImage = (client: Client, path: string) => client.patch(`/users/${owner.id}`, { image: keyOf(path) });

    it('is one of the user’s own, and everybody who sees the user sees it', async () => {
      const path = await picture();
      expect((await setImage(own, path)).body.data.image).toBe(keyOf(path));
      const other = api.as(await api.user());
      expect((await other.get(`/users/${owner.id}`)).body.data.image).toBe(keyOf(path));
      const profile = (await own.get('/users/profile')).body.data;
      expect(profile.image).toBe(keyOf(path));
      const { username, email } = profile;
      expect((await admin.put(`/users/${owner.id}`, { username, email, image: profile.image })).body.data.image).toBe(
        profile.image,
      );
      expect((await admin.put(`/users/${owner.id}`, { username, email })).body.data.image).toBeNull();
    });

    it('is in what everybody may see of an author', async () => {
      const path = await picture();
      await setImage(own, path);
      const { id } = await new Fixtures(api, owner).post();
      const { user } = (await api.get(`/posts/${id}?include=user`)).body.data;
      expect(user).toEqual({ id: owner.id, username: owner.username, name: null, image: keyOf(path) });
    });

    it('answers 400 for a public image of somebody else, who may go on to delete it', async () => {
      const path = await picture();
      const stranger = await api.user();
      const answers = [
        await api.as(stranger).patch(`/users/${stranger.id}`, { image: keyOf(path) }),
        await api.post('/users', aNewUser({ image: keyOf(path) })),
        await own.post('/users', aNewUser({ image: keyOf(path) })),
      ];
      for (const answer of answers) {
        expectError(answer, 'VALIDATION_ERROR');
        expect(answer.body.error.fields).toEqual([refused('image')]);
      }
      expect((await own.delete(path)).status).toBe(204);
    });

    it('may be anybody’s where an administrator writes, and the user may keep it', async () => {
      const path = await picture();
      const { id, username, email, token } = await api.user();
      expect((await admin.patch(`/users/${id}`, { image: keyOf(path) })).status).toBe(200);
      const user = api.as({ token });
      const kept = await user.put(`/users/${id}`, { username, email, image: keyOf(path) });
      expect([kept.status, kept.body.data.image]).toEqual([200, keyOf(path)]);
      await user.patch(`/users/${id}`, { image: null });
      expectError(await user.patch(`/users/${id}`, { image: keyOf(path) }), 'VALIDATION_ERROR');
      expect((await own.delete(path)).status).toBe(204);
    });

    it('stays until the user names another or none, or is deleted', async () => {
      const [path, other] = [await picture(), await picture()];
      await setImage(own, path);
      expectError(await own.delete(path), 'CONFLICT');
      await setImage(own, other);
      expect((await own.delete(path)).status).toBe(204);
      expect((await own.delete(`/users/${owner.id}`)).status).toBe(204);
      expect((await admin.delete(other)).status).toBe(204);
    });
  });
});

const readSize = (path: string) => statSync(fileOf(path)).size;
