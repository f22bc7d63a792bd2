import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hkdfSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { isPrivateKeys, splitKeys } from '../config/private-keys';
import { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';

const RSA_BITS = 2048;
const SECRET_LENGTH = 32;
const KEY_FILE = 'jwt-key.pem';

/**
 * The keys of access tokens. RS256 is the default: other services verify tokens by the public keys and share no secret.
 * A second key in JWT_PRIVATE_KEY still verifies tokens while the first one signs. With JWT_SECRET, HS256 is used and
 * there are no public keys.
 */
@Injectable()
export class SigningKeys {
  readonly algorithm: 'RS256' | 'HS256';
  /** The key that signs. */
  readonly current: { kid: string; key: KeyObject };
  private readonly verifying = new Map<string, KeyObject>();
  private readonly published: JsonWebKey[] = [];
  private readonly materials: Buffer[];

  constructor(settings: Settings) {
    if (settings.JWT_SECRET) {
      const key = createSecretKey(Buffer.from(settings.JWT_SECRET));
      this.algorithm = 'HS256';
      this.current = { kid: 'secret', key };
      this.verifying.set('secret', key);
      this.materials = [key.export()];
      return;
    }
    this.algorithm = 'RS256';
    const pem = settings.JWT_PRIVATE_KEY ?? generatedKey(settings.DATA_DIR);
    const keys = splitKeys(pem).map((text) => createPrivateKey(text));
    [this.current] = keys.map((key) => this.publish(key));
    this.materials = keys.map((key) => key.export({ type: 'pkcs8', format: 'der' }));
  }

  /**
   * Derives secrets for another purpose (HKDF, RFC 5869). They are the same on every instance. Seal with the first,
   * open with any.
   */
  derive(purpose: string): Buffer[] {
    return this.materials.map((material) =>
      Buffer.from(hkdfSync('sha256', material, '', `resource-api: ${purpose}`, SECRET_LENGTH)),
    );
  }

  /** The key that verifies tokens with this `kid`. */
  find(kid: string | undefined): KeyObject | undefined {
    return kid === undefined ? undefined : this.verifying.get(kid);
  }

  /** The public keys as a JSON Web Key Set (RFC 7517). */
  jwks(): { keys: JsonWebKey[] } {
    return { keys: this.published };
  }

  private publish(key: KeyObject): { kid: string; key: KeyObject } {
    const publicKey = createPublicKey(key);
    const { e, kty, n } = publicKey.export({ format: 'jwk' });
    // `kid` is the thumbprint of RFC 7638, so that a key has the same name on every instance.
    const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url');
    this.verifying.set(kid, publicKey);
    this.published.push({ kty, n, e, kid, use: 'sig', alg: 'RS256' });
    return { kid, key };
  }
}

/**
 * Reads the key under DATA_DIR, or generates it. Of two processes that start at once, the second takes the key of the
 * first.
 */
function generatedKey(directory: string): string {
  const file = join(directory, KEY_FILE);
  const existing = readIfThere(file);
  if (existing !== undefined) return requireKeys(existing, file);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: RSA_BITS });
  const draft = `${file}.${process.pid}`;
  mkdirSync(directory, { recursive: true });
  writeFileSync(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  try {
    linkSync(draft, file); // Unlike rename, refuses to replace.
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return readFileSync(file, 'utf8');
}

function requireKeys(text: string, file: string): string {
  if (isPrivateKeys(text)) return text;
  throw new StartupError(`${file} holds no signing key; remove it to have one made, which ends all access tokens.`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
