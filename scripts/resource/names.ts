/** The forms of a resource's name: in paths, tables, classes, files, variables and sentences. */
export interface Names {
  /** In paths and folders: `credit-notes`. */
  noun: string;
  /** In file names: `credit-note`. */
  file: string;
  /** `credit_notes` */
  table: string;
  /** `CreditNote` */
  entity: string;
  /** `CreditNotes` */
  plural: string;
  /** `creditNote` */
  one: string;
  /** `creditNotes` */
  many: string;
  /** `a credit note` */
  aWord: string;
  /** `credit note` */
  word: string;
  /** `credit notes` */
  words: string;
}

const ENDINGS: [RegExp, string][] = [
  [/(?<=[^aeiou])ies$/, 'y'],
  [/(?<=ss|sh|ch|x|zz)es$/, ''],
  [/(?<=[^s])s$/, ''],
];
/** Words that end in s without being a plural. */
const SINGULAR = /(?:ss|us|is|news)$/;
/** Endings of several singulars: `caches` and `branches`, `bonuses` and `causes`, `heroes` and `shoes`, `leaves` and `caves`. */
const UNCLEAR = /(?:ches|[aeiou]ses|yses|oes|ves|zzes|series|species|movies|cookies|calories)$/;

/** The singular of a regular plural; undefined for any other word. */
export function singularOf(noun: string): string | undefined {
  if (SINGULAR.test(noun) || UNCLEAR.test(noun)) return undefined;
  const ending = ENDINGS.find(([pattern]) => pattern.test(noun));
  return ending && noun.replace(ending[0], ending[1]);
}

export function namesOf(noun: string, singular: string): Names {
  const word = singular.replaceAll('-', ' ');
  return {
    noun,
    file: singular,
    table: noun.replaceAll('-', '_'),
    entity: pascal(singular),
    plural: pascal(noun),
    one: camel(singular),
    many: camel(noun),
    aWord: `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`,
    word,
    words: noun.replaceAll('-', ' '),
  };
}

export function pascal(name: string): string {
  const parts = name.split(/[-_]/);
  return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase()).join('');
}

export function camel(name: string): string {
  const text = pascal(name);
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
