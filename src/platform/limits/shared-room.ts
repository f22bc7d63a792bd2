import { Tally } from './tally';

/** Bytes of memory that all clients have together, and of them the share of one network. */
export class SharedRoom {
  /** Taken by all. */
  taken = 0;
  private readonly ofNetworks = new Tally<string>();

  takenBy(network: string): number {
    return this.ofNetworks.of(network);
  }

  /** @param bytes that are taken, or, below 0, given back */
  add(network: string, bytes: number): void {
    this.taken += bytes;
    this.ofNetworks.add(network, bytes);
  }
}
