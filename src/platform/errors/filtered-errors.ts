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

/** Nest's classes for the statuses of the service. */
const CLASSES: Type<HttpException>[] = [
  ...[BadRequestException, UnauthorizedException, ForbiddenException, NotFoundException, NotAcceptableException],
  ...[ConflictException, GoneException, PreconditionFailedException, PayloadTooLargeException],
  ...[UnsupportedMediaTypeException, UnprocessableEntityException, ServiceUnavailableException],
];
const classes = new Map(CLASSES.map((type) => [new type().getStatus(), type]));

const ofNest = Object.getOwnPropertyDescriptor(ExceptionsHandler.prototype, 'invokeCustomFilters')
  ?.value as ExceptionsHandler['invokeCustomFilters'];

/**
 * Lets exception filters of an application handle the errors of the service and its database: such a filter reads the
 * status, or catches one class, so it gets the error as a Nest exception of that status.
 */
ExceptionsHandler.prototype.invokeCustomFilters = function (this: ExceptionsHandler, thrown: unknown, host) {
  const filters = this['filters'] as ExceptionFilterMetadata[];
  // With the service's own filter alone nothing is converted.
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

/** True if a filter catches a class of the thrown error that the service's error isn't an instance of. */
function isNamed(filter: ExceptionFilterMetadata | undefined, thrown: unknown, error: ApiError): boolean {
  const named = filter?.exceptionMetatypes ?? [];
  return !named.some((type) => error instanceof type) && named.some((type) => thrown instanceof type);
}
