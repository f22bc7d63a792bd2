import type { KvStore } from '@tus/server';

/** Keeps the values that were set last, for a library that would keep all of them. */
export class RecentValues<T> implements KvStore<T> {
  private readonly values = new Map<string, T>();

  constructor(private readonly limit: number) {}

  get(key: string): Promise<T | undefined> {
    return Promise.resolve(this.values.get(key));
  }

  set(key: string, value: T): Promise<void> {
    this.values.set(key, value);
    const [oldest] = this.values.keys();
    if (this.values.size > this.limit) this.values.delete(oldest);
    return Promise.resolve();
  }

  delete(key: string): Promise<void> {
    this.values.delete(key);
    return Promise.resolve();
  }
}
