import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings, StartupError } from '../platform';
import { verifyPassword } from '../platform/accounts';
import { type Demo } from '../platform/programs';
import { UserSettings } from '../resources/users/user-settings';
import { DEMO_PASSWORD, demoUsers } from './content';

/** The demo accounts that the start offers: a user and an administrator. */
const OFFERED = ['ada', 'grace'];

interface Account {
  id: number;
  username: string;
  status: string;
  password_hash: string | null;
}

/**
 * Finds demo users who still have the published password. They are offered for exploring on this machine, and refused
 * in production.
 */
@Injectable()
export class DemoAccounts implements Demo, OnModuleInit {
  open = false;
  offered = false;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
    private readonly administrator: UserSettings,
  ) {}

  /** @throws {StartupError} in production, if the first administrator were to get that password. It isn't made yet */
  onModuleInit(): void {
    if (!this.settings.production || this.administrator.ADMIN_PASSWORD !== DEMO_PASSWORD) return;
    throw new StartupError('ADMIN_PASSWORD is the password of the demo data, which everybody knows; set another one.');
  }

  /**
   * Runs at each start, because demo data remain when a later start inserts none.
   * @throws {StartupError} in production, if there is such an account
   */
  async check(): Promise<void> {
    const accounts = await this.findOpen();
    if (this.settings.production && accounts.length > 0) throw new StartupError(refusal(accounts));
    this.open = accounts.length > 0;
    const active = accounts.filter(({ status }) => status === 'ACTIVE').map(({ username }) => username);
    this.offered = OFFERED.every((name) => active.includes(name));
  }

  /**
   * Includes suspended accounts, which an administrator may activate unknowingly. The accounts are identified by their
   * creation time, which callers can't choose: anybody may register the name of a demo user with the published
   * password.
   */
  private async findOpen(): Promise<Account[]> {
    const accounts = await this.database.query<Account[]>(
      `SELECT id, username, status, password_hash FROM users
        WHERE deleted_at IS NULL AND created_at = ANY($1) ORDER BY id`,
      [demoUsers.map(({ created }) => new Date(created))],
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
    `  UPDATE users SET deleted_at = now(), password_hash = NULL WHERE id IN (${ids});`
  );
}
