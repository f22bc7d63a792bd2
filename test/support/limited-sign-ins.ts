import type { Answer } from '../../src/platform/testing';

/** Seconds in which even a busy machine answers a few requests. */
export const DELAY = 5;

/** Without Redis, where other tests count as well. */
export const settings = {
  REDIS_URL: '',
  TRUST_PROXY: '1',
  LOGIN_RATE_LIMIT: '5',
  LOGIN_ADDRESS_LIMIT: '30',
  LOGIN_ACCOUNT_LIMIT: '12',
  LOGIN_ACCOUNT_DELAY: String(DELAY),
  REGISTRATION_RATE_LIMIT: '10',
  RENAME_RATE_LIMIT: '6',
};

/** Asks so often, one after the other. */
export async function inTurn(count: number, ask: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index++) answers.push(await ask(index));
  return answers;
}

export const statuses = (answers: Answer[]) => answers.map(({ status }) => status);
