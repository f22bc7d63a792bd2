import type { Request } from 'express';
import { neighbourhoodOf, networkOf } from '../limits/client-network';
import { ApiError } from '../errors/api-error';
import { SharedRoom } from '../limits/shared-room';

const MEBIBYTE = 1024 * 1024;
/** Bytes of bodies that may be gathered at once in this process. */
const MAX_GATHERED = 64 * MEBIBYTE;
/** Bytes of bodies that are whole, as their requests wait for the database or are worked on. */
const MAX_IN_WORK = 256 * MEBIBYTE;
/** Of either, the share of neighbours, and of one client. */
const OF_NEIGHBOURS = 1 / 4;
const OF_CLIENT = OF_NEIGHBOURS / 2;
/** Bytes of a body that need no room: what the system and Node keep of a connection anyway. */
const FREE = 16 * 1024;

/** Room that all bodies of some kind have together. No client takes what its neighbours share, nor do neighbours take all. */
class CommonRoom {
  private readonly neighbours = new SharedRoom();
  private readonly clients = new SharedRoom();

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
      neighbours.takenBy(neighbourhood) + more > most * OF_NEIGHBOURS ||
      // The only one of a client may be larger than its share: a route may take such bodies.
      (own > 0 && own + more > most * OF_CLIENT);
    if (isTooMuch) throw new ApiError('SERVICE_UNAVAILABLE', { message: this.refusal });
    this.add(neighbourhood, client, more);
  }

  add(neighbourhood: string, client: string, bytes: number): void {
    this.neighbours.add(neighbourhood, bytes);
    this.clients.add(client, bytes);
  }
}

const gathered = new CommonRoom(MAX_GATHERED, 'Too many large bodies are on their way, try again later');
const inWork = new CommonRoom(MAX_IN_WORK, 'Too many large bodies are worked on, try again later');

/** What a body takes in memory, of what all bodies together may take. */
export class BodyRoom {
  private taken = 0;
  private readonly neighbourhood: string;
  private readonly client: string;

  private constructor(
    private readonly room: CommonRoom,
    address: string | undefined,
  ) {
    this.neighbourhood = neighbourhoodOf(address);
    this.client = networkOf(address);
  }

  /** For one that comes. */
  static onTheWay(address: string | undefined): BodyRoom {
    return new BodyRoom(gathered, address);
  }

  /** For one that is whole. */
  static inWork(address: string | undefined): BodyRoom {
    return new BodyRoom(inWork, address);
  }

  /**
   * @param size bytes that there are by now
   * @throws {ApiError} SERVICE_UNAVAILABLE when clients have too much in memory already
   */
  hold(size: number): void {
    if (size <= FREE) return;
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
 * Takes room for the body of a request until it is answered, or its client has gone: requests wait for locks and connections,
 * and their bodies with them.
 * @throws {ApiError} SERVICE_UNAVAILABLE when too many do
 */
export function holdUntilAnswered({ ip, res: response }: Request, size: number): void {
  if (size <= FREE || response!.closed) return;
  const room = BodyRoom.inWork(ip);
  room.hold(size);
  response!.once('close', () => room.giveBack());
}
