import { Injectable } from '@nestjs/common';
import type { VerifiedClaims } from './token-issuer';

/** Tokens that are remembered; with their claims a megabyte for each thousand. */
const MAX_TOKENS = 10_000;
const MILLISECOND = 1_000;
/** Characters; random ones, 192 bits. */
const ENDING = 32;

/**
 * Claims of tokens that were verified, until they expire: a signature once found good stays good, and checking one costs
 * more than the rest of a simple request. Whether its session still lives is asked of the database at each request.
 */
@Injectable()
export class VerifiedTokens {
  /** By how they end. */
  private readonly known = new Map<string, { token: string; claims: VerifiedClaims }>();

  find(token: string): VerifiedClaims | undefined {
    const ending = endingOf(token);
    const known = this.known.get(ending);
    if (known?.token !== token) return undefined;
    if (known.claims.exp * MILLISECOND > Date.now()) return known.claims;
    this.known.delete(ending);
    return undefined;
  }

  remember(token: string, claims: VerifiedClaims): void {
    // The oldest goes: a map keeps the order in which it was filled.
    if (this.known.size >= MAX_TOKENS) this.known.delete(this.known.keys().next().value!);
    this.known.set(endingOf(token), { token, claims });
  }
}

/** The end of its signature, which is another for each token. To look one up as a whole takes 1 µs: V8 reads all of it twice. */
function endingOf(token: string): string {
  return token.slice(-ENDING);
}
