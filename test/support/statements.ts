import { Client } from 'pg';

type Query = (...parameters: unknown[]) => unknown;

/** The SQL that the application sends while it is asked, without the look-up of who asks. */
export async function statementsOf(ask: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const prototype = Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  const spy = jest.spyOn(prototype, 'query').mockImplementation(function (this: Client, ...parameters) {
    const [first] = parameters as [string | { text?: string }];
    sent.push(typeof first === 'string' ? first : (first.text ?? ''));
    return query.apply(this, parameters);
  });
  try {
    await ask();
  } finally {
    spy.mockRestore();
  }
  return sent.filter((text) => !text.includes('FROM sessions'));
}
