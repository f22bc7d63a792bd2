import { ForbiddenException, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';

/** Who may have a password here: with one, whoever the identity provider turns away would still get in. */
@Injectable()
export class LocalPasswords {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {}

  /** @throws {ForbiddenException} for a user who signs in at the identity provider */
  async requireAllowed(userId: number): Promise<void> {
    if (this.settings.OIDC_LOCAL_PASSWORDS) return;
    // Once and for all: a user gets its identity when it is made.
    const text = 'SELECT EXISTS (SELECT FROM external_identities WHERE user_id = $1) AS external';
    const [{ external }] = await this.database.query<{ external: boolean }[]>(text, [userId]);
    if (external) throw signsInElsewhere();
  }
}

/** 403 for a password of a user who signs in at the identity provider. */
export function signsInElsewhere(): ForbiddenException {
  return new ForbiddenException('This user signs in at the identity provider and has no password here');
}
