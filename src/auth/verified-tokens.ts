import { Injectable } from '@nestjs/common';
import type { VerifiedClaims } from './token-issuer';

/** Tokens that are remembered; with their claims a megabyte for each thousand. */
const MAX_TOKENS = 10_000;
const MILLISECOND = 1_000;

/**
 * Claims of tokens that were verified, until they expire: a signature once found good stays good, and checking one costs
 * more than the rest of a simple request. Whether its session still lives is asked of the database at each request.
 */
@Injectable()
export class VerifiedTokens {
  private readonly claims = new Map<string, VerifiedClaims>();

  find(token: string): VerifiedClaims | undefined {
    const claims = this.claims.get(token);
    if (!claims || claims.exp * MILLISECOND > Date.now()) return claims;
    this.claims.delete(token);
    return undefined;
  }

  remember(token: string, claims: VerifiedClaims): void {
    // The oldest goes: a map keeps the order in which it was filled.
    if (this.claims.size >= MAX_TOKENS) this.claims.delete(this.claims.keys().next().value!);
    this.claims.set(token, claims);
  }
}
