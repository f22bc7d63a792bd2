/** What JSON holds. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** An attribute as the command names it. */
export interface Attribute {
  name: string;
  kind: Kind;
  /** The smallest and the largest length or number. */
  min: number;
  max: number;
  /** The number of decimals. */
  scale: number;
  /** The greatest number of items of a list. */
  items: number;
  /** The names of an enum. */
  options: string[];
  /** The attributes of a nested object. */
  attributes: Attribute[];
  /** The noun of the resource that a reference names. */
  target?: string;
  nullable: boolean;
  unique: boolean;
  /** The value of an attribute that is left out. Undefined if the attribute is required. */
  fallback?: Json;
}

/** The parts of the source that differ between kinds of attributes. A new kind is one entry of `KINDS`. */
export interface Kind {
  /** How it is written, in the list that a refusal shows. */
  usage: string;
  /** The bounds of `(min..max)`, each with its default; undefined if the kind takes none. */
  bounds?: { least: number; most: number; min: number; max?: number };
  /** Whether the bounds are `(precision,scale)`. */
  hasScale?: boolean;
  /** The value of an attribute that is left out, if the kind has one of its own. */
  fallback?: Json;
  canBeNull?: boolean;
  canBeUnique?: boolean;
  canBeSorted: (attribute: Attribute) => boolean;
  /** Whether a list can be filtered by it. */
  canBeFiltered?: boolean;
  /** Whether it may stand in a nested object. */
  canBeNested?: boolean;
  /** Whether `search` looks through it. */
  isText?: boolean;
  /** The type in TypeScript, without `null`. */
  type: (attribute: Attribute, entity: string) => string;
  /** Its type in the entity, where that differs. */
  columnType?: string;
  /** The decorator and the options that the DTO has besides `nullable`. */
  decorator: (attribute: Attribute, entity: string) => { name: string; first?: string; options: string[] };
  /** The options of `@Column()`, and the type in SQL. */
  column: (attribute: Attribute) => { options: string; sql: string; comment?: string };
  /** The last part of the constraint's name, and its condition. */
  check?: (attribute: Attribute) => [rule: string, condition: string] | undefined;
  /** The value that a text of the command stands for; undefined if the attribute refuses it. */
  read?: (text: string, attribute: Attribute) => Json | undefined;
  /** Different values, as JSON has them, by number. */
  example: (attribute: Attribute, index: number) => Json;
  /** What the comment in the DTO says. */
  describe: (attribute: Attribute) => string;
  /** The values of the tests, as code. */
  values: (attribute: Attribute) => string;
}

export const always = (): boolean => true;
export const never = (): boolean => false;
export const human = (name: string): string => name.replace(/_ids?$/, '').replaceAll('_', ' ');
export const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, '_');
export const quotedNames = (names: string[]): string => names.map((one) => `'${one}'`).join(', ');
/** The options of a function for values of the tests. */
export const argumentOf = (options: string[]): string => (options.length > 0 ? `{ ${options.join(', ')} }` : '');
export const optionally = ({ nullable }: Attribute, values: string): string =>
  nullable ? `optionally(${values})` : values;
