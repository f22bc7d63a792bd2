import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Role } from '../auth/caller';
import { hashPassword } from '../auth/passwords';
import { Settings } from '../config/settings';
import { withLock } from '../database/with-lock';
import { User, UserStatus } from '../resources/users/user.entity';
import { identityKey } from '../auth/identity-key';

/** Printed at the start, and good for nothing but demo data: the settings refuse that in production. */
export const DEMO_PASSWORD = 'demo-password';

export const demoUsers = [
  // First, as the examples of the documentation name her with the id 1.
  { username: 'ada', name: 'Ada Lovelace' },
  { username: 'grace', name: 'Grace Hopper', roles: [Role.USER, Role.ADMIN] },
  { username: 'edsger', name: 'Edsger Dijkstra' },
  { username: 'barbara', name: 'Barbara Liskov' },
  { username: 'mallory', name: null, status: UserStatus.SUSPENDED },
];

/** Fills an empty database, once, with something to explore. */
@Injectable()
export class DemoData implements OnApplicationBootstrap {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.settings.demoData) return;
    await withLock(this.database, 'demo data', async () => {
      const users = this.database.getRepository(User);
      if (await users.exists({ withDeleted: true })) return;
      const password_hash = await hashPassword(DEMO_PASSWORD);
      await users.insert(
        demoUsers.map((user) => {
          const email = `${user.username}@example.com`;
          const keys = { username_key: identityKey(user.username), email_key: identityKey(email) };
          return { ...user, ...keys, email, password_hash };
        }),
      );
    });
  }
}
