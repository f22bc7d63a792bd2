import { neighbourhoodOf, networkOf } from '../limits/client-network';
import { ApiError } from '../errors/api-error';
import { SharedRoom } from '../limits/shared-room';

const MEBIBYTE = 1024 * 1024;
/** Bytes of bodies that may be gathered at once in this process, of those the share of neighbours, and of one client. */
const MAX_GATHERED = 64 * MEBIBYTE;
const MAX_OF_NEIGHBOURS = MAX_GATHERED / 4;
const MAX_OF_CLIENT = MAX_OF_NEIGHBOURS / 2;
/** Bytes of a body that need no room: what the system and Node keep of a connection anyway. */
const FREE = 16 * 1024;

const neighbours = new SharedRoom();
const clients = new SharedRoom();

/** What a body takes in memory while it comes, of what all bodies together may take. */
export class BodyRoom {
  private taken = 0;
  private readonly neighbourhood: string;
  private readonly client: string;

  constructor(address: string | undefined) {
    this.neighbourhood = neighbourhoodOf(address);
    this.client = networkOf(address);
  }

  /**
   * @param size bytes that have come
   * @throws {ApiError} SERVICE_UNAVAILABLE when too much is held back by clients already
   */
  hold(size: number): void {
    if (size <= FREE) return;
    const more = size - this.taken;
    if (!this.hasRoomFor(more)) {
      throw new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large bodies are on their way, try again later' });
    }
    this.add(more);
  }

  giveBack(): void {
    if (this.taken > 0) this.add(-this.taken);
  }

  /** No client takes what its neighbours share, nor do neighbours take all. */
  private hasRoomFor(more: number): boolean {
    if (neighbours.taken + more > MAX_GATHERED) return false;
    if (neighbours.takenBy(this.neighbourhood) + more > MAX_OF_NEIGHBOURS) return false;
    return clients.takenBy(this.client) + more <= MAX_OF_CLIENT;
  }

  private add(bytes: number): void {
    this.taken += bytes;
    neighbours.add(this.neighbourhood, bytes);
    clients.add(this.client, bytes);
  }
}
