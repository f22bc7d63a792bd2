import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { escapeIdentifier } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { ResourceEntity, Settings, withLock } from '../platform';
import { hashPassword, identityKey } from '../platform/accounts';
import { inSlowStep } from '../platform/programs';
import { UserSettings } from '../resources/users/user-settings';
import { User } from '../resources/users/user.entity';
import { DEMO_PASSWORD, demoEmail, demoUsers } from './content';
import { DemoAccounts } from './demo-accounts';
import { addOrders } from './orders';
import { addPosts } from './posts';
import { addProducts } from './products';
import { add, dates } from './rows';

type AddRows = (manager: EntityManager) => Promise<void>;

const declared: AddRows[] = [];

/** Adds demo rows of resources that a module outside of `src` brings, after all others. */
export function declareDemoRows(...rows: AddRows[]): void {
  declared.push(...rows);
}

/** Fills an empty database, once, with data to explore. */
@Injectable()
export class DemoData implements OnApplicationBootstrap {
  private readonly logger = new Logger(DemoData.name);

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
    private readonly administrator: UserSettings,
    private readonly accounts: DemoAccounts,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.settings.demoData) await this.fillOnce();
    await this.accounts.check();
  }

  private async fillOnce(): Promise<void> {
    await withLock(this.database, 'demo data', async () => {
      if (!(await this.isEmpty())) return;
      if (this.hasNamesTaken()) {
        return this.logger.warn('There are no demo data: ADMIN_USERNAME or ADMIN_EMAIL is the one of a demo user');
      }
      // All or nothing: the next start would take partial demo data for a user's own data.
      const fillAll = async (manager: EntityManager) => {
        for (const addRows of [fill, ...declared]) await addRows(manager);
      };
      await inSlowStep('Adding demo data', () => this.database.transaction(fillAll));
    });
  }

  /** True if no resource has a row but the administrator of the settings. Hidden rows count. */
  private async isEmpty(): Promise<boolean> {
    const others = this.database.entityMetadatas
      .filter(({ target, tableType }) => tableType === 'regular' && target !== User && isResource(target))
      .map(({ tablePath }) => ` AND NOT EXISTS (SELECT FROM ${tablePath.split('.').map(escapeIdentifier).join('.')})`);
    const [{ empty }] = await this.database.query<{ empty: boolean }[]>(
      `SELECT NOT EXISTS (SELECT FROM users WHERE username_key <> $1)${others.join('')} AS empty`,
      [identityKey(this.administrator.ADMIN_USERNAME ?? '')],
    );
    return empty;
  }

  private hasNamesTaken(): boolean {
    const taken = [this.administrator.ADMIN_USERNAME, this.administrator.ADMIN_EMAIL].map((name = '') =>
      identityKey(name),
    );
    return demoUsers.some(({ username }) =>
      [username, demoEmail(username)].map(identityKey).some((key) => taken.includes(key)),
    );
  }
}

async function fill(manager: EntityManager): Promise<void> {
  await addUsers(manager);
  await addProducts(manager);
  await addOrders(manager);
  await addPosts(manager);
}

async function addUsers(manager: EntityManager): Promise<void> {
  const password_hash = await hashPassword(DEMO_PASSWORD);
  const users = demoUsers.map(({ created, ...user }) => {
    const email = demoEmail(user.username);
    const keys = { username_key: identityKey(user.username), email_key: identityKey(email) };
    return { ...user, ...dates(created), ...keys, email, password_hash };
  });
  await add(manager, User, users);
}

const isResource = (target: unknown): boolean =>
  typeof target === 'function' && (target as { prototype: unknown }).prototype instanceof ResourceEntity;
