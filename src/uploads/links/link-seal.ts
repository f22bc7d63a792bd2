import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SigningKeys } from '../../platform/accounts';
import { partsOf } from './link.pipe';

/** The version of the format, a part of what is signed: a signature for one format is none for another. */
const FORMAT = 'link 1';

/** Signs links to uploads. A link names its upload and its expiry alone, and no caller: it opens nothing else. */
@Injectable()
export class LinkSeal {
  private readonly secrets: Buffer[];

  constructor(keys: SigningKeys) {
    this.secrets = keys.derive('links to uploads');
  }

  /** @param expiry in seconds since 1970 */
  seal(key: string, expiry: number): string {
    return `${expiry}.${sign(this.secrets[0], key, expiry)}`;
  }

  /** @param link of the right form. Returns the expiry in seconds since 1970; undefined if no secret of the service has signed this link to this upload. */
  open(key: string, link: string): number | undefined {
    const { expiry, signature } = partsOf(link);
    // The texts are compared, as the same bytes have several spellings in base64url.
    const isOf = (secret: Buffer) => timingSafeEqual(Buffer.from(sign(secret, key, expiry)), Buffer.from(signature));
    return this.secrets.map(isOf).includes(true) ? expiry : undefined;
  }
}

const sign = (secret: Buffer, key: string, expiry: number): string =>
  createHmac('sha256', secret).update(`${FORMAT}\n${key}\n${expiry}`).digest('base64url');
