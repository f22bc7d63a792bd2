import { preparing } from '../../src/platform/pipeline/decompression';
import { expectError, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

/** Costly bodies in one turn of the event loop. */
const AT_ONCE = 2;
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, 1]));

describe('A body that takes long to validate', () => {
  const api = useTestApi();

  /** Takes the turns of all others, until `free` is called. */
  function hold() {
    let free = () => undefined as void;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const held = Promise.all(times(AT_ONCE, () => preparing.run(() => freed)));
    return { free, held };
  }

  it.each<[string, string, object]>([
    ['with many attributes', '/auth/tokens', many(100)],
    ['with many items', '/orders', { items: times(100, () => ({})) }],
    ['with long texts', '/posts', { title: '', content: 'a'.repeat(8_000) }],
  ])('%s waits for its turn, and a short one does not', async (_name, path, body) => {
    const user = api.as(await api.user());
    const { free, held } = hold();
    let answered = false;
    const long = user.post(path, body).finally(() => (answered = true));
    await waitFor(() => preparing['queue'].size === 1);

    expectError(await user.post(path, { unknown: 1 }), 'VALIDATION_ERROR');
    expect(answered).toBe(false);
    free();
    expectError(await long, 'VALIDATION_ERROR');
    await held;
  });

  it('is refused to a caller whose session has ended while it waited', async () => {
    const user = await api.user();
    const { free, held } = hold();
    const start = performance.now();
    const late = api.as(user).post('/orders', { items: times(100, () => ({})) });
    await waitFor(() => preparing['queue'].size === 1);
    await api.delete('/auth/tokens', { refresh_token: user.refreshToken });
    // A shorter wait isn't worth a look at the caller.
    await waitFor(() => performance.now() - start > 100);
    free();

    expectError(await late, 'UNAUTHORIZED');
    await held;
  });
});
