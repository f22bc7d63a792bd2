import { ForbiddenException, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';

/**
 * Who may have a password here, and choose its e-mail address: with a password, whoever the identity provider turns away
 * would still get in, and with an address that nobody has verified it would keep its owner out.
 */
@Injectable()
export class LocalPasswords {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {}

  /** @throws {ForbiddenException} for a user who signs in at the identity provider */
  async requireAllowed(userId: number): Promise<void> {
    if (await this.isElsewhere(userId)) throw signsInElsewhere();
  }

  /** @throws {ForbiddenException} for a user whose address the identity provider has vouched for */
  async requireOwnAddress(userId: number): Promise<void> {
    if (await this.isElsewhere(userId)) throw addressIsElsewhere();
  }

  private async isElsewhere(userId: number): Promise<boolean> {
    if (this.settings.OIDC_LOCAL_PASSWORDS) return false;
    // Once and for all: a user gets its identity when it is made.
    const text = 'SELECT EXISTS (SELECT FROM external_identities WHERE user_id = $1) AS external';
    const [{ external }] = await this.database.query<{ external: boolean }[]>(text, [userId]);
    return external;
  }
}

/** 403 for a password of a user who signs in at the identity provider. */
export function signsInElsewhere(): ForbiddenException {
  return new ForbiddenException('This user signs in at the identity provider and has no password here');
}

/** 403 for another e-mail address of such a user. */
export function addressIsElsewhere(): ForbiddenException {
  return new ForbiddenException('The e-mail address of this user is the one that the identity provider has verified');
}
