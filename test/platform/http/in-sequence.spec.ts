import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { inSequence } from '../../../src/platform/http/in-sequence';

const [request, response] = [{} as Request, {} as Response];

describe('Middlewares in sequence', () => {
  const calls: unknown[] = [];
  const passing = (name: string): RequestHandler => {
    return (_request, _response, next) => {
      calls.push(name);
      next();
    };
  };
  const end: NextFunction = (error?: unknown) => void calls.push(error ?? 'the end');

  beforeEach(() => void calls.splice(0));

  it('run one after the other, and then what comes after them', () => {
    void inSequence([passing('a'), passing('b')])(request, response, end);

    expect(calls).toEqual(['a', 'b', 'the end']);
  });

  it('stop at one that answers', () => {
    void inSequence([passing('a'), () => undefined, passing('never')])(request, response, end);

    expect(calls).toEqual(['a']);
  });

  it('stop at an error', () => {
    const failing: RequestHandler = (_request, _response, next) => next(new Error('No'));

    void inSequence([failing, passing('never')])(request, response, end);

    expect(calls).toEqual([new Error('No')]);
  });

  it('go on when one is done later, without disturbing other requests', () => {
    const later: NextFunction[] = [];
    const sequence = inSequence([passing('a'), (_request, _response, next) => void later.push(next), passing('b')]);
    void sequence(request, response, end);
    void sequence(request, response, end);

    for (const next of later) next();

    expect(calls).toEqual(['a', 'a', 'b', 'the end', 'b', 'the end']);
  });

  it('are none', () => {
    void inSequence([])(request, response, end);

    expect(calls).toEqual(['the end']);
  });
});
