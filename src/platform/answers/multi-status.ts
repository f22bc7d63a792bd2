/** What became of one part of a request. */
export interface PartResult {
  /** The status that the part would have got alone. */
  status: number;
}

/** The answer to a request whose parts have results of their own: 207, with the results as `data` in their order. */
export class MultiStatus {
  constructor(readonly results: PartResult[]) {}

  toJSON(): PartResult[] {
    return this.results;
  }
}
