import type { Resource } from './resource';
import { text } from './values';

let texts = 0;

/** For a request to a resource that is nothing but a text. */
export const someText = { content: 'Some other text.' };

/** What can be written of such a resource. */
export const onlyText = {
  attributes: { content: text({ min: 1, max: 5_000, multiline: true }) },
  required: ['content'],
  defaults: {},
  replaceable: false,
  least: () => ({ content: `Text ${++texts}.` }),
} satisfies Partial<Resource['writable']>;
