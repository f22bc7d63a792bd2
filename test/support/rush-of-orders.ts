import { DataSource } from 'typeorm';
import { times } from '../../src/platform/testing';
import { builtClient } from './client';
import { Fixtures } from './fixtures';
import type { Fault, Gateway } from './gateway';
import { generator } from './mutated-text';
import type { TestApi } from './test-api';

const FAULTS: Fault[] = ['before', 'after', 'midway', { status: 502, body: 'Bad Gateway' }];
/** The part of requests that something happens to. */
const BROKEN = 0.3;
const AT_ONCE = 10;
const STOCK = 1_000_000;

export interface Rush {
  /** The ids that the client was told. */
  told: number[];
  /** The ids of the orders that there are. */
  made: number[];
  /** What is gone from the stock. */
  taken: number;
  /** Requests that were broken. */
  broken: number;
}

/** Orders through a gateway that breaks some of the connections, the same ones for each seed. */
export async function rushOfOrders(api: TestApi, gateway: Gateway, count: number, seed: number): Promise<Rush> {
  const owner = await api.user();
  const product = await new Fixtures(api, owner).product({ stock: STOCK });
  const random = generator(seed);
  let broken = 0;
  gateway.faultOf = () => {
    if (random() > BROKEN) return undefined;
    broken++;
    return FAULTS[Math.floor(random() * FAULTS.length)];
  };
  const { createClient, memoryStore } = builtClient();
  const store = memoryStore({ accessToken: owner.token, accessExpiresAt: Infinity, refreshToken: owner.refreshToken });
  const retry = { attempts: 30, firstDelay: 1, longestDelay: 20 };
  const client = createClient({ url: gateway.url, store, retry });
  const told: number[] = [];
  const buyer = async () => {
    for (let left = count / AT_ONCE; left > 0; left--) {
      const { id } = await client.orders.create({ items: [{ product_id: product.id, quantity: 1 }] });
      told.push(id as number);
    }
  };
  await Promise.all(times(AT_ONCE, buyer));
  const database = api.app.nest.get(DataSource);
  const rows = await database.query<{ id: string }[]>('SELECT id FROM orders WHERE user_id = $1', [owner.id]);
  const [{ stock }] = await database.query<{ stock: number }[]>('SELECT stock FROM products WHERE id = $1', [
    product.id,
  ]);
  return { told: sorted(told), made: sorted(rows.map(({ id }) => Number(id))), taken: STOCK - stock, broken };
}

const sorted = (ids: number[]): number[] => [...ids].sort((one, other) => one - other);
