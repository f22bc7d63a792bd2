import type { Request } from 'express';
import { neighbourhoodOf, networkOf } from '../limits/client-network';
import { ApiError } from '../errors/api-error';
import { MemoryBudget } from '../limits/memory-budget';
import { kibibytes, mebibytes } from '../units';

/** Bytes of incomplete bodies that may be in memory at once in this process. */
const MAX_GATHERED_BYTES = mebibytes(64);
/** Bytes of complete bodies, whose requests wait for the database or are handled. */
const MAX_IN_WORK_BYTES = mebibytes(256);
/** The share of a neighbourhood, and of one client, in each of the two limits. */
const SHARE_OF_NEIGHBOURS = 1 / 4;
const SHARE_OF_CLIENT = SHARE_OF_NEIGHBOURS / 2;
/** A smaller body isn't counted: the system and Node buffer as much for each connection anyway. */
const FREE_BYTES = kibibytes(16);

/** The memory that all bodies in one state share. Neither a client nor a neighbourhood takes all of it. */
class SharedMemory {
  private readonly neighbours = new MemoryBudget();
  private readonly clients = new MemoryBudget();

  constructor(
    private readonly most: number,
    private readonly refusal: string,
  ) {}

  /** @throws {ApiError} SERVICE_UNAVAILABLE */
  take(neighbourhood: string, client: string, more: number): void {
    const { most, neighbours, clients } = this;
    const own = clients.takenBy(client);
    const isTooMuch =
      neighbours.taken + more > most ||
      neighbours.takenBy(neighbourhood) + more > most * SHARE_OF_NEIGHBOURS ||
      // A client's only body may exceed the client's share: a route may accept such bodies.
      (own > 0 && own + more > most * SHARE_OF_CLIENT);
    if (isTooMuch) throw new ApiError('SERVICE_UNAVAILABLE', { message: this.refusal });
    this.add(neighbourhood, client, more);
  }

  add(neighbourhood: string, client: string, bytes: number): void {
    this.neighbours.add(neighbourhood, bytes);
    this.clients.add(client, bytes);
  }
}

const gathered = new SharedMemory(MAX_GATHERED_BYTES, 'Too many large bodies are on their way, try again later');
const inWork = new SharedMemory(MAX_IN_WORK_BYTES, 'Too many large bodies are worked on, try again later');

/** The memory that one body takes. */
export class BodyMemory {
  private taken = 0;
  private readonly neighbourhood: string;
  private readonly client: string;

  private constructor(
    private readonly room: SharedMemory,
    address: string | undefined,
  ) {
    this.neighbourhood = neighbourhoodOf(address);
    this.client = networkOf(address);
  }

  /** For a body that is still arriving. */
  static onTheWay(address: string | undefined): BodyMemory {
    return new BodyMemory(gathered, address);
  }

  /** For a complete body. */
  static inWork(address: string | undefined): BodyMemory {
    return new BodyMemory(inWork, address);
  }

  /**
   * @param size the bytes of the body so far
   * @throws {ApiError} SERVICE_UNAVAILABLE when clients take too much memory already
   */
  hold(size: number): void {
    if (size <= FREE_BYTES) return;
    const more = size - this.taken;
    this.room.take(this.neighbourhood, this.client, more);
    this.taken += more;
  }

  giveBack(): void {
    if (this.taken > 0) this.room.add(this.neighbourhood, this.client, -this.taken);
    this.taken = 0;
  }
}

/**
 * Reserves memory for the body of a request until it is answered, or its client has gone: while a request waits for a
 * lock or a connection, its body stays in memory.
 * @throws {ApiError} SERVICE_UNAVAILABLE when bodies take too much memory already
 */
export function holdUntilAnswered({ ip, res: response }: Request, size: number): void {
  if (size <= FREE_BYTES || response!.closed) return;
  const room = BodyMemory.inWork(ip);
  room.hold(size);
  response!.once('close', () => room.giveBack());
}
