import { DataSource } from 'typeorm';
import { AuditCount } from '../../src/platform/changes/audit-count';
import { SettledChanges } from '../../src/platform/changes/settled-changes';
import { type Client, expectSuccess, waitFor } from '../../src/platform/testing';
import { parseMark } from '../../src/resources/changes/mark';
import type { TestApi } from './test-api';

export interface ToldChange {
  type: string;
  id: number;
  change: string;
  version: number;
  resource?: object | null;
}

interface Feed {
  changes: ToldChange[];
  next: string;
}

/** A mark after all changes so far. */
export async function markNow(client: Client): Promise<string> {
  return (expectSuccess(await client.get('/changes?cursor=now')) as Feed).next;
}

/** What one read tells since a mark. */
export async function feedSince(client: Client, mark: string, parameters: string): Promise<Feed> {
  return expectSuccess(await client.get(`/changes?cursor=${mark}&${parameters}`)) as Feed;
}

/**
 * The changes since a mark, of at most 100. Transactions of other test files share the cluster and may hold the feed back, so it
 * waits until everything that was committed before the call is told.
 */
export async function changesSince(
  api: TestApi,
  client: Client,
  mark: string,
  parameters: string,
): Promise<ToldChange[]> {
  const text = 'SELECT coalesce(max(id), 0) AS last FROM audit_events';
  const [{ last }] = await api.app.nest.get(DataSource).query<{ last: string }[]>(text);
  let feed: Feed | undefined;
  await waitFor(async () => {
    feed = await feedSince(client, mark, parameters);
    return parseMark(feed.next)!.position >= Number(last);
  });
  return feed!.changes;
}

/** Waits until everything that was committed before the call is settled. */
export async function everythingSettled({ app }: TestApi): Promise<void> {
  const { last } = await app.nest.get(SettledChanges).soFar();
  await waitFor(async () => (await app.nest.get(SettledChanges).upTo()) >= last);
}

/** Has the events counted. @returns the last number up to which they are; more than 0 */
export async function countedEvents({ app }: TestApi): Promise<number> {
  const text = "SELECT up_to FROM settled_counts WHERE table_name = 'audit_events'";
  let counted = 0;
  await waitFor(async () => {
    await app.nest.get(AuditCount).count();
    const [{ up_to }] = await app.nest.get(DataSource).query<{ up_to: string }[]>(text);
    counted = Number(up_to);
    return counted > 0;
  });
  return counted;
}
