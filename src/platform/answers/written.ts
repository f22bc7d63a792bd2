import type { Response } from 'express';
import { requireLossless, toLosslessJsonBytes } from '../http/lossless-json';
import { toXml, toXmlItem } from '../http/xml';
import type { Answer } from './answer';

/** How a page is put together of the envelope without items and the items. */
export interface PageForm {
  envelope: (json: string) => string;
  item: (item: object) => Buffer;
  /** The place of the items in the envelope, and the length of what follows them there. */
  noItems: string;
  end: number;
  /** What stands between two items. */
  separator: Buffer;
}

const JSON_PAGE: PageForm = {
  envelope: (json) => json,
  item: toLosslessJsonBytes,
  noItems: '"data":[]',
  end: ']'.length,
  separator: Buffer.from(','),
};
const XML_PAGE: PageForm = {
  envelope: toXml,
  item: (item) => {
    const json = JSON.stringify(item);
    requireLossless(item, json);
    return Buffer.from(toXmlItem(json));
  },
  noItems: '<data type="array"></data>',
  end: '</data>'.length,
  separator: Buffer.alloc(0),
};

/** True if what a handler has returned is to be XML. JSON is sent where a route names a media type of its own. */
export function writesXml(response: Response): boolean {
  return response.req.representation?.isXml === true && !response.hasHeader('Content-Type');
}

export const pageFormFor = (response: Response): PageForm => (writesXml(response) ? XML_PAGE : JSON_PAGE);

/** The text of an answer as it is sent. */
export function writtenFor(response: Response, answer: Answer): string {
  return writesXml(response) && answer.becomesXml ? toXml(answer.text) : answer.text;
}
