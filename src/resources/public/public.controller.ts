import { Controller, Get, Header, UseFilters, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiProduces, ApiTooManyRequestsResponse } from '@nestjs/swagger';
import { Public } from '../../auth/access.decorators';
import { ApiResource } from '../../conventions/docs/api.decorators';
import { PlainTextThrottleFilter } from './plain-text-throttle.filter';
import { PublicThrottlerGuard } from './public-throttler.guard';

const LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in `w` seconds.',
    schema: { type: 'string' },
    example: '"default";q=60;w=60',
  },
  RateLimit: {
    description: 'What is left of it: `r` requests in the next `t` seconds.',
    schema: { type: 'string' },
    example: '"default";r=59;t=60',
  },
};
const RETRY_AFTER = {
  description: 'Seconds to wait before another attempt.',
  schema: { type: 'string' },
  example: '42',
};

@ApiResource('Public', 'Open to everyone, within a limit.')
@Controller('public')
@Public({ identifies: false })
export class PublicController {
  /**
   * Greets.
   * @remarks In plain text, for 429 as well. By default each client address has 60 requests a minute.
   */
  @Get()
  @UseGuards(PublicThrottlerGuard)
  @UseFilters(PlainTextThrottleFilter)
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @ApiProduces('text/plain')
  @ApiOkResponse({
    description: 'OK',
    headers: LIMIT_HEADERS,
    type: String,
    example: 'Hello from the public resource.',
  })
  @ApiTooManyRequestsResponse({
    description: 'Too Many Requests',
    headers: { ...LIMIT_HEADERS, 'Retry-After': RETRY_AFTER },
    type: String,
    example: 'Too many requests. Please try again later.',
  })
  get(): string {
    return 'Hello from the public resource.';
  }
}
