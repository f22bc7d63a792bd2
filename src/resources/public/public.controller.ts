import { Controller, Get, Header, UseFilters, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiTooManyRequestsResponse } from '@nestjs/swagger';
import { ApiResource, Produces, Public } from '../../platform';
import { PlainTextThrottleFilter, TOO_MANY } from './plain-text-throttle.filter';
import { PublicThrottlerGuard } from './public-throttler.guard';

const GREETING = 'Hello from the public resource.';

const LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in `w` seconds.',
    schema: { type: 'string', maxLength: 64, pattern: '^"default";q=[0-9]+;w=[0-9.]+$' },
    example: '"default";q=60;w=60',
  },
  RateLimit: {
    description: 'What is left of it: `r` requests in the next `t` seconds.',
    schema: { type: 'string', maxLength: 64, pattern: '^"default";r=[0-9]+;t=[0-9]+$' },
    example: '"default";r=59;t=60',
  },
};
const RETRY_AFTER = {
  description: 'Seconds to wait before another attempt.',
  schema: { type: 'string', maxLength: 10, pattern: '^[0-9]+$' },
  example: '42',
};
const plain = (text: string) => ({ 'text/plain': { schema: { type: 'string', enum: [text] }, example: text } });

@ApiResource('Public', 'Open to everyone, within a limit.')
@Controller('public')
@Public({ identifies: false })
export class PublicController {
  /**
   * Returns a greeting.
   * @remarks The answer is plain text, 429 too. By default each client address has 60 requests a minute.
   */
  @Get()
  @UseGuards(PublicThrottlerGuard)
  @UseFilters(PlainTextThrottleFilter)
  @Produces('text/plain')
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @Header('Cache-Control', 'no-store')
  @ApiOkResponse({
    description: 'OK',
    headers: LIMIT_HEADERS,
    content: plain(GREETING),
  })
  @ApiTooManyRequestsResponse({
    description: 'Too Many Requests',
    headers: { ...LIMIT_HEADERS, 'Retry-After': RETRY_AFTER },
    content: plain(TOO_MANY),
  })
  get(): string {
    return GREETING;
  }
}
