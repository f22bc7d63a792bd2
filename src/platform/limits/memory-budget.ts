import { Tally } from './tally';

/** Counts the memory that clients take together, and the share of each network, in bytes. */
export class MemoryBudget {
  /** Bytes that all clients take together. */
  taken = 0;
  private readonly ofNetworks = new Tally<string>();

  takenBy(network: string): number {
    return this.ofNetworks.of(network);
  }

  /** @param bytes the bytes taken; negative when they are released */
  add(network: string, bytes: number): void {
    this.taken += bytes;
    this.ofNetworks.add(network, bytes);
  }
}
