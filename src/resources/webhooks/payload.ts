import { DeliveredChange } from './delivery.entity';

export interface DeliveredRow {
  id: number;
  type: string;
  resource_id: number;
  change: DeliveredChange;
  resource_version: number | null;
  changed_at: Date;
}

/** The same for each attempt, so that a receiver knows what it has got already. */
export const messageId = (id: number): string => `delivery_${id}`;

/** The body, in the form of Standard Webhooks. @param resource what it is now; undefined if there is none any more */
export function bodyOf(
  { type, resource_id, change, resource_version, changed_at }: DeliveredRow,
  resource?: object,
): string {
  const at = changed_at.toISOString();
  return JSON.stringify({
    type: `${type}.${change.toLowerCase()}`,
    timestamp: at,
    data: { type, id: resource_id, change, version: resource_version, at, resource: resource ?? null },
  });
}
