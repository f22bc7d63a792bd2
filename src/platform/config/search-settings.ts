import { WholeSetting } from './setting-rules';

const DAY_IN_MILLISECONDS = 24 * 60 * 60 * 1_000;

/** What can be set about searches; part of the {@link Settings}. */
export abstract class SearchSettings {
  /** Connections of DATABASE_POOL_SIZE that searches may take; one always stays for the rest. */
  @WholeSetting(1, 1000)
  SEARCH_CONNECTIONS = 3;

  /** Milliseconds for a search, from the moment when it has a connection. */
  @WholeSetting(1, DAY_IN_MILLISECONDS)
  SEARCH_TIMEOUT = 5_000;
}
