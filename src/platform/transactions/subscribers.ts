import type { DataSource, EntityMetadata, EntitySubscriberInterface } from 'typeorm';

/** Subscribers of the service's own, which a shortcut past TypeORM does the work of. */
const ownSubscribers = new WeakSet<EntitySubscriberInterface>();

/** Adds a subscriber that {@link isWatched} doesn't mean. */
export function subscribe(database: DataSource, subscriber: EntitySubscriberInterface): void {
  ownSubscribers.add(subscriber);
  database.subscribers.push(subscriber);
}

/** Whether a subscriber of the application wants to know of an entity's rows, or of every statement. */
export function isWatched({ subscribers }: DataSource, { target }: EntityMetadata): boolean {
  return subscribers.some((subscriber) => !ownSubscribers.has(subscriber) && isFor(subscriber, target));
}

function isFor(subscriber: EntitySubscriberInterface, target: EntityMetadata['target']): boolean {
  if (subscriber.beforeQuery ?? subscriber.afterQuery) return true;
  // As TypeORM's Broadcaster decides.
  const listened = subscriber.listenTo?.();
  if (!listened || listened === Object || listened === target) return true;
  return typeof listened === 'function' && Object.prototype.isPrototypeOf.call(listened, target);
}
