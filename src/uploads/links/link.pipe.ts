import { Injectable, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type ApiError, validationError } from '../../platform';

/** The expiry in seconds since 1970, and the signature: 256 bits in base64url. */
const PATTERN = '^[1-9][0-9]{9}[.][A-Za-z0-9_-]{43}$';
const LINK = new RegExp(PATTERN);
const LENGTH = 54;
const EXPIRY_LENGTH = 10;

/** Refuses what can't be a link before anything is computed of it. */
@Injectable()
export class LinkPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (text.length === LENGTH && LINK.test(text)) return text;
    throw notALink();
  }
}

/** 400 for a path parameter that can't be a link. */
export const notALink = (): ApiError =>
  validationError([{ field: 'link', rule: 'link', message: 'must be the last part of the url of a link' }]);

/** @param link that {@link LinkPipe} has let through */
export const partsOf = (link: string): { expiry: number; signature: string } => ({
  expiry: Number(link.slice(0, EXPIRY_LENGTH)),
  signature: link.slice(EXPIRY_LENGTH + 1),
});

export const ApiLinkParam = (): MethodDecorator =>
  ApiParam({
    name: 'link',
    description: 'The last part of the `url` of a link.',
    schema: { type: 'string', minLength: LENGTH, maxLength: LENGTH, pattern: PATTERN },
    example: '1767229200.2ZxJmVbYb0Qk3p9mJm8b6x1Zk0y8f2r3VqTn5sLw7aE',
  });
