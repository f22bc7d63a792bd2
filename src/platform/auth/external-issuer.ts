import { KeyObject } from 'node:crypto';
import { Injectable, Logger, ServiceUnavailableException } from '@nestjs/common';
import type { createRemoteJWKSet } from 'jose';
import type { Algorithm, JwtHeader } from 'jsonwebtoken';
import { Settings } from '../config/settings';
import type { Origin } from '../transactions/origin';
import type { Caller } from './caller';
import { readExternalClaims } from './external-claims';
import { ExternalUsers } from './external-users';
import type { TokenIssuer, VerifiedClaims } from './token-issuer';
import { minutes, seconds } from '../units';

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

const DISCOVERY = '/.well-known/openid-configuration';
const DISCOVERY_TIMEOUT_MS = 5_000;
/**
 * In milliseconds: the time limit of fetching the keys, how long they are cached, and the pause before an unknown key
 * causes another fetch.
 */
const KEYS = { timeoutDuration: seconds(5), cacheMaxAge: minutes(10), cooldownDuration: seconds(30) };
const NO_SUCH_KEY = ['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWKS_MULTIPLE_MATCHING_KEYS'];

/**
 * The identity provider of OIDC_ISSUER. Its keys are found by its discovery document; a user is created here at its
 * first sign-in.
 */
@Injectable()
export class ExternalIssuer implements TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: Algorithm[] = ['RS256', 'PS256', 'ES256'];
  private readonly logger = new Logger(ExternalIssuer.name);
  private keys: Promise<RemoteKeys> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly users: ExternalUsers,
  ) {
    this.issuer = settings.OIDC_ISSUER ?? '';
    this.audience = settings.OIDC_AUDIENCE ?? '';
  }

  async findKey({ kid, alg }: JwtHeader): Promise<KeyObject | undefined> {
    try {
      const keys = await this.discoveredKeys();
      // jose picks the key by `kid`. It fetches the keys again for an unknown `kid`, limited by the cooldown.
      return KeyObject.from(await keys({ kid, alg }));
    } catch (error) {
      if (NO_SUCH_KEY.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      this.logger.warn(`No keys from the identity provider: ${(error as Error).message}`);
      throw new ServiceUnavailableException();
    }
  }

  async findCaller(claims: VerifiedClaims, origin: Origin): Promise<Caller | undefined> {
    const known = readExternalClaims(claims, this.settings.OIDC_TOKEN_MAX_AGE);
    return known && this.users.findCaller(known, origin);
  }

  private discoveredKeys(): Promise<RemoteKeys> {
    // A success is kept. A failure is forgotten, so that the next token tries again.
    this.keys ??= discover(this.issuer).catch((error: unknown) => {
      this.keys = undefined;
      throw error;
    });
    return this.keys;
  }
}

async function discover(issuer: string): Promise<RemoteKeys> {
  const url = issuer.replace(/\/$/, '') + DISCOVERY;
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) });
  const document = (await response.json()) as { issuer?: string; jwks_uri?: string };
  // Required by OpenID Connect Discovery 1.0, section 4.3: otherwise one issuer could speak for another.
  if (document.issuer !== issuer || !document.jwks_uri) throw new Error('its discovery document is another issuer’s');
  const keys = new URL(document.jwks_uri);
  // Somebody who can change the keys in transit could sign in as anybody.
  if (issuer.startsWith('https:') && keys.protocol !== 'https:') throw new Error('its keys are not served by https');
  // Loaded on first use: most services have no identity provider.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const jose = require('jose') as typeof import('jose');
  return jose.createRemoteJWKSet(keys, KEYS);
}
