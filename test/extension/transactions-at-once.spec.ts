import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { type Handler, insert, useHandlers } from '../support/modules/handlers';

const FAILURE = new Error('fails');

/** Begins a transaction by hand, as the documentation of TypeORM does, and holds it open for a while. */
async function byHand({ queryRunner }: EntityManager, name: string, ms: number, fails = false): Promise<void> {
  await queryRunner!.startTransaction();
  try {
    await insert(queryRunner!.manager, name);
    await sleep(ms);
    if (fails) throw FAILURE;
    await queryRunner!.commitTransaction();
  } catch (error) {
    await queryRunner!.rollbackTransaction();
    if (error !== FAILURE) throw error;
  }
}

const later = (ms: number, work: () => Promise<unknown>) => sleep(ms).then(work);

/** In the first attempt a function undoes what is written beside it. */
const retried: Handler = async (manager) => {
  for (const fails of [true, false]) {
    const attempt = manager.transaction(async (outer) => {
      const held = later(1, () =>
        byHand(outer, `by hand ${fails}`, 20, fails).then(() => fails && Promise.reject(FAILURE)),
      );
      await Promise.all([held, later(10, () => insert(outer, `beside ${fails}`))]);
    });
    await attempt.catch(() => undefined);
  }
};

describe('A transaction begun by hand at once with something else of its query runner', () => {
  const { marks, send } = useHandlers({ REQUEST_TIMEOUT: '2000' });
  const within =
    (work: Handler): Handler =>
    (manager) =>
      manager.transaction(work);

  describe.each([
    ['without a key', false],
    ['with a key', true],
  ])('%s', (_name, keyed) => {
    it.each<[string, Handler, string[]]>([
      [
        'undoes no write that was begun before it',
        within((outer) => Promise.all([insert(outer, 'a'), insert(outer, 'b'), byHand(outer, 'lost', 5, true)])),
        ['a', 'b'],
      ],
      [
        'undoes no write that was begun before it was',
        within((outer) => Promise.all([byHand(outer, 'lost', 5, true), insert(outer, 'a')])),
        ['a'],
      ],
      [
        'may end before one that was begun within it',
        within((outer) =>
          Promise.all([later(0, () => byHand(outer, 'a', 20)), later(10, () => byHand(outer, 'b', 30))]),
        ),
        ['a', 'b'],
      ],
      ['affects no second attempt if it is undone with the first', retried, ['beside false', 'by hand false']],
    ])('%s', async (_kind, handler, names) => {
      const { status } = await send(handler, keyed);
      expect([status, await marks()]).toEqual([201, names]);
    });
  });

  it('comes after another one with a key', async () => {
    const handler = within((outer) =>
      Promise.all(['a', 'b', 'lost'].map((name) => later(1, () => byHand(outer, name, 5, name === 'lost')))),
    );
    const { status } = await send(handler, true);
    expect([status, await marks()]).toEqual([201, ['a', 'b']]);
  });

  it('is refused with a key when it would undo another one, which was begun within it', async () => {
    const handler = within((outer) =>
      Promise.all([later(0, () => byHand(outer, 'lost', 20, true)), later(10, () => byHand(outer, 'a', 30))]),
    );
    const { status } = await send(handler, true);
    expect([status, await marks()]).toEqual([500, []]);
  });
});
