import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { ArrayContains, DataSource } from 'typeorm';
import { Role } from '../../auth/caller';
import { identityKey } from '../../auth/identity-key';
import { Settings, SettingsError } from '../../config/settings';
import { withLock } from '../../database/with-lock';
import { CreateUserDto } from './user.dto';
import { User } from './user.entity';
import { UsersService } from './users.service';

/** Makes the administrator that the settings name, when there is none yet. */
@Injectable()
export class FirstAdministrator implements OnApplicationBootstrap {
  private readonly logger = new Logger(FirstAdministrator.name);

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
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
      if (await this.database.getRepository(User).existsBy({ roles: ArrayContains([Role.ADMIN]) })) {
        return this.warnUnlessHere(username);
      }
      await this.users.create({ ...input, roles: [Role.ADMIN] }, SETUP);
    });
  }

  private async warnUnlessHere(username: string): Promise<void> {
    const named = { username_key: identityKey(username), roles: ArrayContains([Role.ADMIN]) };
    if (await this.database.getRepository(User).existsBy(named)) return;
    this.logger.warn(
      'ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD are ignored: there is another administrator already',
    );
  }
}

/** Nobody: the settings themselves ask. */
const SETUP = { id: 0, roles: [Role.ADMIN], authenticatedAt: 0 };
