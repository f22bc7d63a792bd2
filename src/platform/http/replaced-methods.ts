import type { ServerResponse } from 'node:http';
import express, { type Response } from 'express';

const { json, send } = express.response;

/**
 * True if middleware has replaced `res.json()` or `res.send()`, e.g. to audit or change answers. Such answers are sent
 * by the replaced methods, not by the fast path.
 */
export function hasReplacedMethods(response: ServerResponse): boolean {
  const { json: itsJson, send: itsSend } = response as Partial<Response>;
  return itsJson !== undefined && (itsJson !== json || itsSend !== send);
}

/** Calls the replaced methods with the arguments that Express would pass. */
export function sendByReplacedMethods(response: ServerResponse, text: string): void {
  const isJson = String(response.getHeader('Content-Type')).includes('json');
  if (isJson) (response as Response).json(JSON.parse(text));
  else (response as Response).send(text);
}
