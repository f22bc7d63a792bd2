import cluster from 'node:cluster';
import { createHash } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterCluster,
  RateLimiterMemory,
  RateLimiterRedis,
} from 'rate-limiter-flexible';
import { Settings } from '../config/settings';

/** Characters of a key that is kept as it is. */
const MAX_KEY = 64;
const MILLISECOND = 1_000;
/** How long Redis may take to answer, in milliseconds. After that it counts as away: nobody waits for it again until it's back. */
const PATIENCE = 300;
const CONNECT_TIMEOUT = 2_000;
/** How long a connection is idle before the system asks whether the other side is still there, in milliseconds. */
const KEEP_ALIVE = 5_000;

export interface Count {
  /** Hits in the current window. */
  hits: number;
  /** Seconds until the window ends. */
  resetsIn: number;
}

/** A hit that was counted. */
export interface Hit extends Count {
  /** Until when it counts, by the clock of `performance`: no later than that. */
  until: number;
}

/** Counts hits in fixed windows; shared between processes through Redis when there is one. */
@Injectable()
export class RateLimits implements OnApplicationShutdown {
  private readonly logger = new Logger(RateLimits.name);
  private readonly redis?: Redis;

  constructor({ REDIS_URL }: Settings) {
    if (!REDIS_URL) return;
    // Not with the rest at the start: a single instance has no Redis.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const { Redis: Client } = require('ioredis') as typeof import('ioredis');
    this.redis = new Client(REDIS_URL, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      // A hit that was sent again would count twice.
      autoResendUnfulfilledCommands: false,
      commandTimeout: PATIENCE,
      // Silence ends the connection as well: what comes next fails at once, until another connection works.
      socketTimeout: PATIENCE,
      connectTimeout: CONNECT_TIMEOUT,
      keepAlive: KEEP_ALIVE,
    });
    this.reportOutages(this.redis);
  }

  /** @param window seconds */
  counter(name: string, limit: number, window: number): Counter {
    const options = { keyPrefix: `resource-api:${name}`, points: limit, duration: window };
    // The processes of PROCESSES count together, in their primary.
    const local = cluster.isWorker ? new RateLimiterCluster(options) : new RateLimiterMemory(options);
    // Without Redis each instance goes on counting by itself: neither an outage nor an open door.
    const shared = this.redis && new RateLimiterRedis({ ...options, storeClient: this.redis, insuranceLimiter: local });
    return new Counter(shared ?? local, shared ? digest : brief);
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  /** Once for each outage: it is tried again every two seconds at most. */
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
  /** @param keyOf turns the caller's key into the stored key */
  constructor(
    private readonly limiter: RateLimiterAbstract,
    private readonly keyOf: (key: string) => string,
  ) {}

  /** Counts one hit, atomically. */
  async hit(key: string): Promise<Hit> {
    const now = performance.now();
    const { consumedPoints, msBeforeNext } = await this.limiter.penalty(this.keyOf(key));
    return { hits: consumedPoints, resetsIn: secondsOf(msBeforeNext), until: now + msBeforeNext };
  }

  /** Takes one hit back, within its window: the next one's hits are others. */
  async giveBack(key: string, { until }: Hit): Promise<void> {
    // Redis may take so long, and a window that ends by itself needs nothing back.
    if (performance.now() + PATIENCE > until) return;
    const { consumedPoints } = await this.limiter.reward(this.keyOf(key));
    // It was counted elsewhere, before Redis went or came back, or forgotten.
    if (consumedPoints < 0) await this.limiter.penalty(this.keyOf(key));
  }

  /** Forgets the hits of a key. Of several at once one is told that it did. */
  forget(key: string): Promise<boolean> {
    return this.limiter.delete(this.keyOf(key));
  }

  async peek(key: string): Promise<Count> {
    const state = await this.limiter.get(this.keyOf(key));
    return { hits: state?.consumedPoints ?? 0, resetsIn: secondsOf(state?.msBeforeNext ?? 0) };
  }
}

/** As `Retry-After` has them: whoever is told to come back after 0 seconds would come back at once. */
function secondsOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / MILLISECOND));
}

/** In Redis, where keys then have one length, and nobody reads a name. */
function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

/** In memory: a key may be as long as the name that a stranger types. */
function brief(key: string): string {
  return key.length > MAX_KEY ? digest(key) : key;
}
