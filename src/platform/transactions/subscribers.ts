import type { DataSource, EntityMetadata, EntitySubscriberInterface } from 'typeorm';

/** The service's own subscribers. Fast paths around TypeORM do their work. */
const ownSubscribers = new WeakSet<EntitySubscriberInterface>();

/** Adds a subscriber that {@link isWatched} ignores. */
export function subscribe(database: DataSource, subscriber: EntitySubscriberInterface): void {
  ownSubscribers.add(subscriber);
  database.subscribers.push(subscriber);
}

/** True if a subscriber of the application listens to an entity's rows, or to every statement. */
export function isWatched({ subscribers }: DataSource, { target }: EntityMetadata): boolean {
  return subscribers.some((subscriber) => !ownSubscribers.has(subscriber) && isFor(subscriber, target));
}

function isFor(subscriber: EntitySubscriberInterface, target: EntityMetadata['target']): boolean {
  if (subscriber.beforeQuery ?? subscriber.afterQuery) return true;
  // Like TypeORM's Broadcaster.
  const listened = subscriber.listenTo?.();
  if (!listened || listened === Object || listened === target) return true;
  return typeof listened === 'function' && Object.prototype.isPrototypeOf.call(listened, target);
}
