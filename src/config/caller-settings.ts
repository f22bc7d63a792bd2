import { Whole } from './setting-rules';

/** How much one caller may have of what is kept for it; part of the {@link Settings}. */
export abstract class CallerSettings {
  /** Idempotency keys of a user, or without an account of a network, that are remembered at a time. */
  @Whole(1)
  IDEMPOTENCY_KEY_LIMIT = 10_000;
}
