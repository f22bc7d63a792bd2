import { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { answerError } from './error-handler';

const { prototype } = StreamableFile;
const { setErrorHandler, setErrorLogger } = Object.getOwnPropertyDescriptors(prototype);
const handle = setErrorHandler.value!;
const log = setErrorLogger.value!;

/** Files whose failure their developer answers, or logs. */
const answered = new WeakSet<StreamableFile>();
const logged = new WeakSet<StreamableFile>();

prototype.setErrorHandler = function (this: StreamableFile, handler) {
  answered.add(this);
  return handle.call(this, handler);
};
prototype.setErrorLogger = function (this: StreamableFile, handler) {
  logged.add(this);
  return log.call(this, handler);
};

/**
 * Answers a file that fails before its first byte with the error envelope, unless the developer has set an error handler. Nest
 * would answer 400, in plain text.
 */
export function answerFailure(file: StreamableFile, response: Response): void {
  if (answered.has(file)) return;
  const { errorHandler } = file;
  handle.call(file, (error, sent) => {
    if (sent.headersSent || sent.destroyed) return errorHandler(error, sent);
    if (logged.has(file)) file.errorLogger(error);
    answerError(error, response.req, response);
  });
}
