import type { Request, Response } from 'express';
import { Signal } from './signal';

/** A request that was answered, or whose client has gone. */
export interface Answered {
  request: Request;
  response: Response;
  /** Milliseconds from its arrival. */
  ms: number;
}

export const answered = new Signal<Answered>('answered');
