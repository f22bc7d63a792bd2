import type { LoadCaller } from './callers';
import type { Journal } from './journal';
import { isExpected, type Subject, type Work } from './work';

/** What every service has: each caller is known as itself. */
export class Profiles implements Subject {
  readonly works: Work[] = [{ weight: 15, isRead: true, run: (caller, due) => this.read(caller, due) }];

  constructor(private readonly journal: Journal) {}

  verify(): Promise<void> {
    return Promise.resolve();
  }

  private async read(caller: LoadCaller, due: number): Promise<void> {
    const answer = await caller.send({ method: 'GET', path: '/users/profile', due });
    if (!isExpected(this.journal, 'GET /users/profile', answer, 200)) return;
    const { username } = answer.body!.data as { username: string };
    if (username !== caller.account.username) this.journal.findings.add('wrong', 'a caller was taken for another user');
  }
}
