import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign, type SignOptions } from 'jsonwebtoken';
import { signedToken } from './signed-token';

/** A minimal OpenID provider: discovery, keys, and tokens on demand. */
export class IdentityProvider {
  private keys: { kid: string; privateKey: KeyObject; publicKey: KeyObject }[] = [];
  private server: Server;
  issuer: string;
  /** A path that is never answered. */
  silentAt: string | undefined;

  async start(port = 0): Promise<this> {
    if (this.keys.length === 0) this.addKey();
    this.server = createServer((request, response) => {
      if (request.url === this.silentAt) return;
      const body =
        request.url === '/.well-known/openid-configuration'
          ? { issuer: this.issuer, jwks_uri: `${this.issuer}/keys` }
          : {
              keys: this.keys.map(({ kid, publicKey }) => ({
                ...publicKey.export({ format: 'jwk' }),
                kid,
                use: 'sig',
              })),
            };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.issuer = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  private addKey(): void {
    this.keys.push({ kid: `key-${this.keys.length}`, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) });
  }

  token(claims: object, options: SignOptions = {}): string {
    const { kid, privateKey } = this.keys.at(-1)!;
    return sign(claims, createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })), {
      algorithm: 'RS256',
      keyid: kid,
      issuer: this.issuer,
      audience: 'our-api',
      expiresIn: 60,
      ...options,
    });
  }

  /** A token with exactly these claims, even ones that no provider would set. */
  tokenOf(claims: object | string): string {
    const { kid, privateKey } = this.keys.at(-1)!;
    return signedToken(claims, { kid, key: privateKey });
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
