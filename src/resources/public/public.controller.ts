import { Controller, Get, Header, UseFilters, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiProduces, ApiTooManyRequestsResponse } from '@nestjs/swagger';
import { Public } from '../../auth/access.decorators';
import { ApiResource } from '../../conventions/docs/api.decorators';
import { PlainTextThrottleFilter } from './plain-text-throttle.filter';
import { PublicThrottlerGuard } from './public-throttler.guard';

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
  @ApiOkResponse({ description: 'OK', type: String, example: 'Hello from the public resource.' })
  @ApiTooManyRequestsResponse({
    description: 'Too Many Requests',
    type: String,
    example: 'Too many requests. Please try again later.',
  })
  get(): string {
    return 'Hello from the public resource.';
  }
}
