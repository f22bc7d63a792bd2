import { randomBytes } from 'node:crypto';
import type { Account, LoadOptions } from './options';
import type { Answer, Sender, Sending } from './sender';

/** A user who sends requests, and signs in again when its token has expired. */
export class LoadCaller {
  private token = '';
  private signingIn: Promise<void> | undefined;
  id = 0;

  constructor(
    private readonly sender: Sender,
    readonly account: Account,
  ) {}

  /** @throws {Error} when the service refuses the account */
  async signIn(): Promise<void> {
    const { body, status } = await this.sender.send({ method: 'POST', path: '/auth/tokens', body: this.account });
    if (status !== 201) throw new Error(`The sign-in of ${this.account.username} was refused with ${status}`);
    this.token = (body!.data as { access_token: string }).access_token;
    const profile = await this.send({ method: 'GET', path: '/users/profile' });
    this.id = (profile.body!.data as { id: number }).id;
  }

  async send(sending: Sending): Promise<Answer> {
    const answer = await this.sendOnce(sending);
    if (answer.status !== 401) return answer;
    await (this.signingIn ??= this.signIn().finally(() => (this.signingIn = undefined)));
    return this.sendOnce(sending);
  }

  private sendOnce({ headers, ...sending }: Sending): Promise<Answer> {
    return this.sender.send({ ...sending, headers: { Authorization: `Bearer ${this.token}`, ...headers } });
  }
}

/** The callers of a run: the given accounts, or users that are registered for it. */
export async function signInAll(sender: Sender, { accounts, users }: LoadOptions): Promise<LoadCaller[]> {
  const all = accounts.length > 0 ? accounts : await register(sender, users);
  const callers = all.map((account) => new LoadCaller(sender, account));
  for (const caller of callers) await caller.signIn();
  return callers;
}

async function register(sender: Sender, count: number): Promise<Account[]> {
  const run = randomBytes(4).toString('hex');
  const accounts: Account[] = [];
  for (let number = 1; number <= count; number++) {
    const account = { username: `load_${run}_${number}`, password: randomBytes(18).toString('base64url') };
    const body = { ...account, email: `${account.username}@example.com` };
    const headers = { 'Idempotency-Key': account.username };
    const { status } = await sender.send({ method: 'POST', path: '/users', body, headers });
    if (status !== 201) {
      throw new Error(`The registration of a user was refused with ${status}: set LOAD_ACCOUNTS, or lower --users`);
    }
    accounts.push(account);
  }
  return accounts;
}
