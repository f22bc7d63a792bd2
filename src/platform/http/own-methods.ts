import type { ServerResponse } from 'node:http';
import express, { type Response } from 'express';

const { json, send } = express.response;

/**
 * Whether middleware has put methods of its own in the place of `res.json()` or `res.send()`, as those do that audit or
 * change answers: then an answer leaves through them, and not by the short way.
 */
export function hasOwnMethods(response: ServerResponse): boolean {
  const { json: itsJson, send: itsSend } = response as Partial<Response>;
  return itsJson !== undefined && (itsJson !== json || itsSend !== send);
}

/** Such methods get what they would get from Express. */
export function handOver(response: ServerResponse, text: string): void {
  const isJson = String(response.getHeader('Content-Type')).includes('json');
  if (isJson) (response as Response).json(JSON.parse(text));
  else (response as Response).send(text);
}
