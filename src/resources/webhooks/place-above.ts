import type { Request } from 'express';

/** The path of the resource for which a POST below it has done something, as the client has named it. */
export const placeAbove = ({ originalUrl }: Request): string =>
  originalUrl.replace(/[?#].*$/, '').replace(/\/[^/]+\/?$/, '');
