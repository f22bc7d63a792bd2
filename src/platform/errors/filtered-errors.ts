import {
  BadRequestException,
  ConflictException,
  ForbiddenException,
  GoneException,
  type HttpException,
  NotAcceptableException,
  NotFoundException,
  PayloadTooLargeException,
  PreconditionFailedException,
  ServiceUnavailableException,
  type Type,
  UnauthorizedException,
  UnprocessableEntityException,
  UnsupportedMediaTypeException,
} from '@nestjs/common';
import { type ExceptionFilterMetadata, selectExceptionFilterMetadata as filterFor } from '@nestjs/common/internal';
import { ExceptionsHandler } from '@nestjs/core/exceptions/exceptions-handler';
import type { ApiError } from './api-error';
import { fromService } from './to-api-error';

/** Nest's own classes for the statuses that the service answers with. */
const CLASSES: Type<HttpException>[] = [
  ...[BadRequestException, UnauthorizedException, ForbiddenException, NotFoundException, NotAcceptableException],
  ...[ConflictException, GoneException, PreconditionFailedException, PayloadTooLargeException],
  ...[UnsupportedMediaTypeException, UnprocessableEntityException, ServiceUnavailableException],
];
const classes = new Map(CLASSES.map((type) => [new type().getStatus(), type]));

const ofNest = Object.getOwnPropertyDescriptor(ExceptionsHandler.prototype, 'invokeCustomFilters')
  ?.value as ExceptionsHandler['invokeCustomFilters'];

/**
 * A filter of an application asks for the status of an exception, or is for exceptions of one class. What the service and its
 * database throw comes to it as such an exception.
 */
ExceptionsHandler.prototype.invokeCustomFilters = function (this: ExceptionsHandler, thrown: unknown, host) {
  const filters = this['filters'] as ExceptionFilterMetadata[];
  // With the service's own filter alone there is nobody else to ask.
  return ofNest.call(this, filters.length > 1 ? exceptionFor(filters, thrown) : thrown, host);
};

function exceptionFor(filters: ExceptionFilterMetadata[], thrown: unknown): unknown {
  const error = fromService(thrown);
  if (!error || isNamed(filterFor(filters, thrown), thrown, error)) return thrown;
  const type = classes.get(error.status);
  if (!type || error instanceof type) return error;
  const alike = Object.assign(new type(error.getResponse(), { cause: error }), { message: error.message });
  return isNamed(filterFor(filters, alike), alike, error) ? alike : error;
}

/** Whether a filter is for a class that the thrown error has, and the error of the service has not. */
function isNamed(filter: ExceptionFilterMetadata | undefined, thrown: unknown, error: ApiError): boolean {
  const named = filter?.exceptionMetatypes ?? [];
  return !named.some((type) => error instanceof type) && named.some((type) => thrown instanceof type);
}
