import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { identityKey } from '../auth/identity-key';
import { verifyPassword } from '../auth/passwords';
import { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';
import { DEMO_PASSWORD, demoEmail, demoUsers } from './content';

/** Those that the start offers to sign in as: a user and an administrator. */
const OFFERED = ['ada', 'grace'];

interface Account {
  id: number;
  username: string;
  status: string;
  password_hash: string | null;
}

/** The demo users whom the published password still belongs to: offered where it is for exploring, refused in production. */
@Injectable()
export class DemoAccounts {
  /** Whether one can sign in as a user and as an administrator. */
  offered = false;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {}

  /** @throws {StartupError} in production, when there is one */
  async check(): Promise<void> {
    if (!this.settings.production && !this.settings.demoData) return;
    const accounts = await this.findOpen();
    if (this.settings.production && accounts.length > 0) throw new StartupError(refusal(accounts));
    const active = accounts.filter(({ status }) => status === 'ACTIVE').map(({ username }) => username);
    this.offered = OFFERED.every((name) => active.includes(name));
  }

  /** Suspended ones too, whom an administrator may activate without knowing. By either name, as they may have been renamed. */
  private async findOpen(): Promise<Account[]> {
    const names = demoUsers.map(({ username }) => username);
    const accounts = await this.database.query<Account[]>(
      `SELECT id, username, status, password_hash FROM users
        WHERE deleted_at IS NULL AND (username_key = ANY($1) OR email_key = ANY($2)) ORDER BY id`,
      [names.map(identityKey), names.map(demoEmail).map(identityKey)],
    );
    const open = await Promise.all(accounts.map((account) => verifyPassword(account.password_hash, DEMO_PASSWORD)));
    return accounts.filter((_account, index) => open[index]);
  }
}

function refusal(accounts: Account[]): string {
  const names = accounts.map(({ username }) => username).join(', ');
  const ids = accounts.map(({ id }) => id).join(', ');
  return (
    `These users have the password of the demo data, which everybody knows: ${names}.\n` +
    'Give them other passwords, or delete them in the database, before a start with NODE_ENV=production:\n' +
    `  UPDATE users SET deleted_at = now() WHERE id IN (${ids});`
  );
}
