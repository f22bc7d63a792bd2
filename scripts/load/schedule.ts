/** When requests are due: their rate rises evenly from nothing, and then stays. */
export class Schedule {
  /**
   * @param rate requests a second
   * @param rise the seconds in which the rate rises, 0 for none
   */
  constructor(
    private readonly rate: number,
    private readonly rise: number,
  ) {}

  /** The number of requests that are due within these seconds from the start. */
  dueWithin(seconds: number): number {
    const { rate, rise } = this;
    return Math.floor(seconds < rise ? (rate * seconds ** 2) / (2 * rise) : rate * (seconds - rise / 2));
  }

  /** The seconds from the start to the moment when a request is due. @param index that of the first is 0 */
  timeOf(index: number): number {
    const { rate, rise } = this;
    const number = index + 1;
    return number < (rate * rise) / 2 ? Math.sqrt((2 * rise * number) / rate) : number / rate + rise / 2;
  }
}
