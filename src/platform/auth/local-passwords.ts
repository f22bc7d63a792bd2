import { ForbiddenException, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';

/**
 * Says which users may have a password here and choose their own e-mail address. A user of the identity provider may
 * not: with a password, the user could still sign in after the provider has locked them out, and an unverified address
 * would keep its real owner from signing in.
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

  /**
   * While the identity provider alone says who a user is, nobody chooses an address: it may be that of one of its users
   * who hasn't been here yet.
   * @throws {ForbiddenException} for a user whose address the identity provider verifies
   */
  async requireOwnAddress(userId: number): Promise<void> {
    const { OIDC_ISSUER, OIDC_LOCAL_PASSWORDS, openRegistration } = this.settings;
    const isClosed = OIDC_ISSUER !== undefined && !openRegistration && !OIDC_LOCAL_PASSWORDS;
    if (isClosed || (await this.isElsewhere(userId))) throw addressIsElsewhere();
  }

  private async isElsewhere(userId: number): Promise<boolean> {
    if (this.settings.OIDC_LOCAL_PASSWORDS) return false;
    // This never changes: an identity is created together with its user.
    const text = 'SELECT EXISTS (SELECT FROM external_identities WHERE user_id = $1) AS external';
    const [{ external }] = await this.database.query<{ external: boolean }[]>(text, [userId]);
    return external;
  }
}

/** 403 for giving a password to a user who signs in at the identity provider. */
export function signsInElsewhere(): ForbiddenException {
  return new ForbiddenException('This user signs in at the identity provider and has no password here');
}

/** 403 for changing one's e-mail address beside an identity provider. */
export function addressIsElsewhere(): ForbiddenException {
  return new ForbiddenException(
    'The identity provider verifies e-mail addresses, so only an administrator may change them',
  );
}
