import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Webhook as Signature } from 'standardwebhooks';
import { SigningKeys } from '../../platform/accounts';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SECRET_BYTES = 32;
/** What Standard Webhooks writes before the Base64 of a secret. */
const PREFIX = 'whsec_';

export const newSecret = (): Buffer => randomBytes(SECRET_BYTES);

export const textOf = (secret: Buffer): string => PREFIX + secret.toString('base64');

/**
 * The headers of a message, with a signature for each secret (Standard Webhooks).
 * @param id the same for each attempt
 */
export function signedHeaders(secrets: readonly Buffer[], id: string, body: string): Record<string, string> {
  const now = new Date();
  const signatures = secrets.map((secret) => new Signature(secret, { format: 'raw' }).sign(id, now, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** Encrypts secrets for the database, by keys that aren't in it. A copy of the database signs nothing. */
@Injectable()
export class SecretSeal {
  private readonly keys: Buffer[];

  constructor(keys: SigningKeys) {
    this.keys = keys.derive('webhook secrets');
  }

  seal(secret: Buffer): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.keys[0], iv);
    const text = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]);
  }

  /** Undefined if no key of the service has sealed it. */
  open(sealed: Buffer): Buffer | undefined {
    for (const key of this.keys) {
      const secret = openBy(key, sealed);
      if (secret) return secret;
    }
    return undefined;
  }

  /** Whether it is sealed by an older key, which may be taken away once nothing needs it. */
  isOld(sealed: Buffer): boolean {
    return openBy(this.keys[0], sealed) === undefined && this.open(sealed) !== undefined;
  }
}

function openBy(key: Buffer, sealed: Buffer): Buffer | undefined {
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
