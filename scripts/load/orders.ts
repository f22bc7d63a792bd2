import { randomUUID } from 'node:crypto';
import type { LoadCaller } from './callers';
import type { Journal } from './journal';
import { isExpected, oneOf, readAll, type Subject, type Work } from './work';

interface Order {
  id: number;
  status: string;
}

interface Product {
  id: number;
  stock: number;
  status: string;
}

/** A caller orders and cancels in turn, so that its open orders stay few and the stock comes back. */
export class Orders implements Subject {
  private readonly open = new Map<number, number[]>();
  private readonly placed = new Map<number, Set<number>>();
  private readonly cancelled = new Set<number>();
  /** Orders of each caller that were never answered. */
  private readonly unknown = new Map<number, number>();
  private readonly before = new Map<number, Set<number>>();
  readonly works: Work[] = [
    { weight: 20, isRead: true, run: (caller, due) => this.listProducts(caller, due) },
    { weight: 15, isRead: true, run: (caller, due) => this.readProduct(caller, due) },
    { weight: 10, isRead: true, run: (caller, due) => this.list(caller, due) },
    { weight: 10, isRead: false, run: (caller, due) => this.order(caller, due) },
    { weight: 8, isRead: false, run: (caller, due) => this.cancel(caller, due) },
  ];

  private constructor(
    private readonly journal: Journal,
    private readonly products: Product[],
  ) {}

  /** Undefined where nothing can be ordered. */
  static async of(journal: Journal, callers: LoadCaller[]): Promise<Orders | undefined> {
    const { status, body } = await callers[0].send({ method: 'GET', path: '/products?status=ACTIVE&size=100' });
    if (status !== 200) return undefined;
    const products = (body!.data as Product[]).filter(({ stock }) => stock > 2 * callers.length);
    if (products.length === 0) return undefined;
    const orders = new Orders(journal, products);
    for (const caller of callers) await orders.begin(caller);
    return orders;
  }

  async verify(callers: LoadCaller[]): Promise<void> {
    for (const caller of callers) {
      const before = this.before.get(caller.id)!;
      const rows = (await readAll<Order>(caller, '/orders')).filter(({ id }) => !before.has(id));
      const present = new Map(rows.map((row) => [row.id, row.status]));
      const placed = this.placed.get(caller.id)!;
      for (const id of placed) if (!present.has(id)) this.journal.findings.add('lost', `order ${id}`);
      for (const id of this.cancelled) {
        if (placed.has(id) && present.get(id) === 'PENDING')
          this.journal.findings.add('lost', `the end of order ${id}`);
      }
      const extra = rows.filter(({ id }) => !placed.has(id)).slice(this.unknown.get(caller.id) ?? 0);
      for (const { id } of extra) this.journal.findings.add('doubled', `order ${id}`);
    }
  }

  private async begin(caller: LoadCaller): Promise<void> {
    this.before.set(caller.id, new Set((await readAll<Order>(caller, '/orders')).map(({ id }) => id)));
    this.placed.set(caller.id, new Set());
    this.open.set(caller.id, []);
  }

  private async order(caller: LoadCaller, due: number): Promise<void> {
    const open = this.open.get(caller.id)!;
    if (open.length > 20) return this.cancel(caller, due);
    const body = { items: [{ product_id: oneOf(this.products).id, quantity: 1 }] };
    const headers = { 'Idempotency-Key': randomUUID() };
    const answer = await caller.send({ method: 'POST', path: '/orders', body, headers, due });
    // Other clients may have bought the rest.
    if (answer.status === 409) return;
    if (!isExpected(this.journal, 'POST /orders', answer, 201)) {
      return void this.unknown.set(caller.id, (this.unknown.get(caller.id) ?? 0) + 1);
    }
    const { id } = answer.body!.data as Order;
    this.placed.get(caller.id)!.add(id);
    open.push(id);
  }

  /** To say it twice changes nothing, so a repetition needs no key. */
  private async cancel(caller: LoadCaller, due: number): Promise<void> {
    const id = this.open.get(caller.id)!.shift();
    if (id === undefined) return this.order(caller, due);
    const body = { status: 'CANCELLED' };
    const answer = await caller.send({ method: 'PATCH', path: `/orders/${id}/status`, body, due });
    if (isExpected(this.journal, 'PATCH /orders/{id}/status', answer, 200)) this.cancelled.add(id);
  }

  private async list(caller: LoadCaller, due: number): Promise<void> {
    const answer = await caller.send({ method: 'GET', path: '/orders?sort=created_at&order=desc', due });
    isExpected(this.journal, 'GET /orders', answer, 200);
  }

  private async listProducts(caller: LoadCaller, due: number): Promise<void> {
    const answer = await caller.send({ method: 'GET', path: '/products?sort=price&size=20', due });
    isExpected(this.journal, 'GET /products', answer, 200);
  }

  private async readProduct(caller: LoadCaller, due: number): Promise<void> {
    const { id } = oneOf(this.products);
    const answer = await caller.send({ method: 'GET', path: `/products/${id}`, due });
    if (!isExpected(this.journal, 'GET /products/{id}', answer, 200)) return;
    const seen = answer.body!.data as Product;
    if (seen.id !== id || seen.stock < 0) this.journal.findings.add('wrong', `product ${id} was answered wrongly`);
  }
}
