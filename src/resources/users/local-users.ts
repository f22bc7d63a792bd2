import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { identityKey, type Insertion, type Newcomer, UserDirectory } from '../../platform/accounts';
import { displayNameOf, suffixed, usernameOf } from './external-names';

/** Provides the users of the table `users` to the platform. */
@Injectable()
export class LocalUsers extends UserDirectory {
  readonly accounts = `
    SELECT id, roles, status = 'ACTIVE' AND deleted_at IS NULL AS active, password_hash FROM users`;

  constructor(@InjectDataSource() private readonly database: DataSource) {
    super();
  }

  insertionsOf(newcomer: Newcomer): Insertion[] {
    const username = usernameOf(newcomer);
    return [username, suffixed(username)].map((name) => insertionOf(newcomer, name));
  }

  async findByAddress(email: string): Promise<number | undefined> {
    const text = 'SELECT id FROM users WHERE email_key = $1 AND deleted_at IS NULL';
    const [holder] = await this.database.query<{ id: number }[]>(text, [identityKey(email)]);
    return holder?.id;
  }
}

function insertionOf(newcomer: Newcomer, username: string): Insertion {
  const { email } = newcomer;
  return {
    text: 'INSERT INTO users (username, username_key, email, email_key, name) VALUES ($1, $2, $3, $4, $5) RETURNING id',
    values: [username, identityKey(username), email, identityKey(email), displayNameOf(newcomer)],
  };
}
