/**
 * How an attribute may be left out. It stands in the context of the condition under which class-validator asks the attribute's
 * rules, because Nest's mapped types copy it from there: PickType, OmitType and IntersectionType as it is, PartialType beside a
 * condition of its own.
 */
export class Presence {
  /**
   * @param pure whether the condition depends on nothing but the value; see `isPure()`
   * @param fallback what the attribute takes when it is left out. Default: nothing
   */
  constructor(
    readonly pure: boolean,
    readonly fallback?: unknown,
  ) {}
}
