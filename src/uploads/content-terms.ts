import { type Caller, seconds, SECONDS_PER_DAY, SECONDS_PER_MINUTE } from '../platform';
import { type Upload, UploadVisibility } from './upload.entity';

/** Images that browsers show and can't run. The bytes show these types; SVG is not one of them, as it may have scripts. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];

/** Seconds in which caches don't ask again for public content: so long they may have it when it is private again. */
const PUBLIC_AGE = SECONDS_PER_MINUTE;
/** The greatest age in a cache of what a link opens, which may be deleted meanwhile. */
const LINK_AGE = SECONDS_PER_DAY;

/** The terms on which content is sent. */
export interface ContentTerms {
  cacheControl: string;
  /** True if pages of all origins may show the content. */
  isShown: boolean;
}

/** No cache keeps what a caller gets by its token. */
export function ofReader({ visibility }: Upload, caller: Caller | undefined): ContentTerms {
  const isShown = visibility === UploadVisibility.PUBLIC;
  return { cacheControl: caller ? 'no-store' : `public, max-age=${PUBLIC_AGE}, must-revalidate`, isShown };
}

/** The content never changes, but no cache may have it longer than the link. @param remaining milliseconds */
export function ofLink(remaining: number): ContentTerms {
  const age = Math.min(Math.floor(remaining / seconds(1)), LINK_AGE);
  return { cacheControl: `private, max-age=${age}, immutable`, isShown: true };
}
