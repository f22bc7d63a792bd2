import express, { type Request } from 'express';
import { kindOfType, MULTIPART, typeOf, usualTypes } from '../../../src/platform/pipeline/media-types';

/** A request with a body of this media type. */
const requestWith = (type: string): Request =>
  Object.setPrototypeOf({ headers: { 'content-type': type, 'content-length': '1' } }, express.request) as Request;

describe('The media type of a body', () => {
  it.each([
    ['application/json', 'application/json'],
    ['APPLICATION/JSON', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;charset="UTF-8"', 'application/json'],
    ['application/json; charset=utf8', 'application/json'],
    ['application/json; charset=latin1', undefined],
    ['application/json; charset=utf-16', undefined],
    ['application/json; version=1', 'application/json'],
    ['application/merge-patch+json', undefined],
    ['text/plain', undefined],
    ['json', undefined],
    ['', undefined],
  ])('%j, where JSON is taken, is %j', (type, expected) => {
    expect(typeOf(requestWith(type), usualTypes('POST'))).toBe(expected);
  });

  it('may be a merge patch in a PATCH alone', () => {
    const request = requestWith('application/merge-patch+json');
    expect(typeOf(request, usualTypes('PATCH'))).toBe('application/merge-patch+json');
    expect(typeOf(request, usualTypes('PUT'))).toBeUndefined();
  });

  it('is none of a route that takes forms with files alone, or nothing', () => {
    expect(typeOf(requestWith(`${MULTIPART}; boundary=x`), [MULTIPART])).toBeUndefined();
    expect(typeOf(requestWith('application/json'), [])).toBeUndefined();
  });

  it.each([
    ['application/json', 'json'],
    ['application/merge-patch+json', 'json'],
    ['application/vnd.api+json', 'json'],
    ['application/x-www-form-urlencoded', 'form'],
    ['text/plain', 'text'],
    ['text/csv', 'text'],
    ['application/xml', 'bytes'],
    ['application/octet-stream', 'bytes'],
    ['application/jsonp', 'bytes'],
  ])('%s is read as %s', (type, kind) => {
    expect(kindOfType(type)).toBe(kind);
  });
});
