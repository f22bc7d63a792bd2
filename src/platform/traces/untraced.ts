import type { RequestOptions } from 'node:http';

const UNTRACED = Symbol('untraced');

/**
 * Options of a request to a server that isn't the operator's: it gets no `traceparent`, which would tell it the ids of traces,
 * and whose requests belong together. It has no span.
 */
export const untraced: RequestOptions = { [UNTRACED]: true } as RequestOptions;

export const isUntraced = (options: RequestOptions): boolean => UNTRACED in options;
