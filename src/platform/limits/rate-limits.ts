import cluster from 'node:cluster';
import { createHash } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterCluster,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterRes,
} from 'rate-limiter-flexible';
import { Settings } from '../config/settings';
import { MS_PER_SECOND } from '../units';

/** The greatest length of a key that is stored as it is, in characters. */
const MAX_KEY = 64;
/**
 * How long Redis may take to answer, in milliseconds. After that it counts as unavailable, and nobody waits for it
 * until it is back.
 */
const PATIENCE = 300;
const CONNECT_TIMEOUT = 2_000;
/** How long a connection is idle before the system checks that the other side is alive, in milliseconds. */
const KEEP_ALIVE = 5_000;

export interface Count {
  /** Hits in the current window, or their points. */
  hits: number;
  /** Seconds until the window ends. */
  resetsIn: number;
}

/** A counted hit. */
export interface Hit extends Count {
  /** When the window of the hit ends, by the clock of `performance`. It ends no later than that. */
  until: number;
}

/** Counts hits in fixed windows. With Redis, all instances count together. */
@Injectable()
export class RateLimits implements OnApplicationShutdown {
  private readonly logger = new Logger(RateLimits.name);
  private readonly redis?: Redis;

  constructor({ REDIS_URL }: Settings) {
    if (!REDIS_URL) return;
    // Loaded on demand: a single instance has no Redis.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const { Redis: Client } = require('ioredis') as typeof import('ioredis');
    this.redis = new Client(REDIS_URL, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      // A hit that is sent again would count twice.
      autoResendUnfulfilledCommands: false,
      commandTimeout: PATIENCE,
      // Silence closes the connection as well: commands fail at once until there is another connection.
      socketTimeout: PATIENCE,
      connectTimeout: CONNECT_TIMEOUT,
      keepAlive: KEEP_ALIVE,
    });
    this.reportOutages(this.redis);
  }

  /** @param window seconds */
  counter(name: string, limit: number, window: number): Counter {
    const options = { keyPrefix: `resource-api:${name}`, points: limit, duration: window };
    // The worker processes of PROCESSES count together, in the primary.
    const local = cluster.isWorker ? new RateLimiterCluster(options) : new RateLimiterMemory(options);
    // During an outage of Redis each instance counts by itself: requests neither fail nor go unlimited.
    const shared = this.redis && new RateLimiterRedis({ ...options, storeClient: this.redis, insuranceLimiter: local });
    return new Counter(local, shared);
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  /** Logs each outage once. Reconnecting is tried every two seconds at most. */
  private reportOutages(redis: Redis): void {
    let away = false;
    redis.on('error', (error: Error) => {
      if (!away) this.logger.warn(`Counting in this process alone: ${error.message}`);
      away = true;
    });
    redis.on('ready', () => {
      if (away) this.logger.log('Counting together with other processes again');
      away = false;
    });
  }
}

export class Counter {
  private readonly limiter: RateLimiterAbstract;
  private readonly keyOf: (key: string) => string;
  private readonly all: RateLimiterAbstract[];

  /**
   * @param local counts in this instance
   * @param shared counts in Redis, and in `local` while Redis can't
   */
  constructor(
    private readonly local: RateLimiterAbstract,
    shared?: RateLimiterAbstract,
  ) {
    this.limiter = shared ?? local;
    this.keyOf = shared ? digest : brief;
    // A Redis that refuses writes, e.g. after a failover, still answers reads, and knows nothing of what is counted here.
    this.all = shared ? [shared, local] : [local];
  }

  /** Counts one hit, or a hit of several points, atomically. */
  async hit(key: string, points = 1): Promise<Hit> {
    const now = performance.now();
    const stored = this.keyOf(key);
    const answer = await this.limiter.penalty(stored, points);
    const { consumedPoints, msBeforeNext } = isCount(answer) ? answer : await this.local.penalty(stored, points);
    return { hits: consumedPoints, resetsIn: secondsOf(msBeforeNext), until: now + msBeforeNext };
  }

  /** Takes a hit back, within its window only: the next window counts other hits. */
  async giveBack(key: string, { until }: Hit): Promise<void> {
    // Redis may take this long, and a window that ends by itself needs no correction.
    if (performance.now() + PATIENCE > until) return;
    const { consumedPoints } = await this.limiter.reward(this.keyOf(key));
    // The hit was counted elsewhere, before Redis went or came back, or it is forgotten.
    if (consumedPoints < 0) await this.limiter.penalty(this.keyOf(key));
  }

  /** Deletes the hits of a key. Of concurrent calls one resolves to true. */
  async forget(key: string): Promise<boolean> {
    const forgotten = await Promise.all(this.all.map((limiter) => limiter.delete(this.keyOf(key))));
    return forgotten.some(Boolean);
  }

  async peek(key: string): Promise<Count> {
    const answers = await Promise.all(this.all.map((limiter) => limiter.get(this.keyOf(key))));
    const states = answers.filter((state) => state !== null).filter(isCount);
    const { consumedPoints: hits, msBeforeNext } = states.reduce(
      (most, state) => (state.consumedPoints > most.consumedPoints ? state : most),
      { consumedPoints: 0, msBeforeNext: 0 },
    );
    return { hits, resetsIn: secondsOf(msBeforeNext) };
  }
}

/** False for what a server makes up that is no Redis. */
function isCount({ consumedPoints, msBeforeNext }: Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>): boolean {
  return Number.isInteger(consumedPoints) && Number.isFinite(Number(msBeforeNext));
}

/** Seconds for `Retry-After`, at least 1: a client that is told 0 would come back at once. */
function secondsOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / MS_PER_SECOND));
}

/** The key in Redis: all keys have the same length, and nobody can read a name. */
function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

/** The key in memory, shortened, because a caller may type a name of any length. */
function brief(key: string): string {
  return key.length > MAX_KEY ? digest(key) : key;
}
