import type { Resource } from './resource';
import { text } from './values';

let texts = 0;

/** The body of a resource that consists of a text. */
export const someText = { content: 'Some other text.' };

/** The writable attributes of such a resource. */
export const onlyText = {
  attributes: { content: text({ min: 1, max: 5_000, multiline: true }) },
  required: ['content'],
  replaceable: true,
  least: () => ({ content: `Text ${++texts}.` }),
} satisfies Omit<NonNullable<Resource['writable']>, 'input'>;
