import { type Channel, channel } from 'node:diagnostics_channel';

/**
 * Something that happens in the service, told to whoever observes it: metrics, traces, or code of a team. It is a channel
 * of node:diagnostics_channel named `resource-api:<name>`, which costs next to nothing while nobody listens.
 */
export class Signal<T extends object> {
  private readonly channel: Channel;

  constructor(name: string) {
    this.channel = channel(`resource-api:${name}`);
  }

  /** Ask before a message is made that costs something. */
  get isHeard(): boolean {
    return this.channel.hasSubscribers;
  }

  tell(message: T): void {
    this.channel.publish(message);
  }

  /** Returns a function that ends listening. */
  hear(listener: (message: T) => void): () => void {
    const heard = (message: unknown) => listener(message as T);
    this.channel.subscribe(heard);
    return () => void this.channel.unsubscribe(heard);
  }
}
