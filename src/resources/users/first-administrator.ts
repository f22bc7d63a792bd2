import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { ArrayContains, DataSource } from 'typeorm';
import { Role, SettingsError, violatedUniqueConstraint, withLock } from '../../platform';
import { identityKey } from '../../platform/accounts';
import { hasActiveAdministrator } from './administrators';
import { CreateUserDto } from './user.dto';
import { UserSettings } from './user-settings';
import { User } from './user.entity';
import { UsersService } from './users.service';

/** Creates the administrator of the settings if there is no active one. */
@Injectable()
export class FirstAdministrator implements OnApplicationBootstrap {
  private readonly logger = new Logger(FirstAdministrator.name);

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: UserSettings,
    private readonly users: UsersService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { ADMIN_USERNAME: username, ADMIN_EMAIL: email, ADMIN_PASSWORD: password } = this.settings;
    if (!username) return;
    const input = plainToInstance(CreateUserDto, { username, email, password });
    const problems = (await validate(input)).map(
      ({ property, constraints }) => `ADMIN_${property.toUpperCase()} ${Object.values(constraints ?? {}).join(', ')}`,
    );
    if (problems.length > 0) throw new SettingsError(problems);
    // Several instances may start at once on an empty database.
    await withLock(this.database, 'first administrator', async () => {
      if (await hasActiveAdministrator(this.database.manager)) return this.warnUnlessHere(username);
      await this.make(input);
    });
  }

  /** A name that is taken doesn't prevent the start: somebody may have registered it to cause just that. */
  private async make(input: CreateUserDto): Promise<void> {
    try {
      await this.users.insert({ ...input, roles: [Role.ADMIN] });
    } catch (error) {
      const constraint = violatedUniqueConstraint(error);
      if (constraint === undefined) throw error;
      const name = constraint === 'users_email_unique' ? 'ADMIN_EMAIL' : 'ADMIN_USERNAME';
      this.logger.warn(`There is no active administrator, and none was made: another user has the name of ${name}`);
    }
  }

  private async warnUnlessHere(username: string): Promise<void> {
    const named = { username_key: identityKey(username), roles: ArrayContains([Role.ADMIN]) };
    if (await this.database.getRepository(User).existsBy(named)) return;
    this.logger.warn(
      'ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD are ignored: there is another administrator already',
    );
  }
}
