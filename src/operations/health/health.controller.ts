import { Controller, Get } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiOkResponse } from '@nestjs/swagger';
import {
  HealthCheck,
  type HealthCheckResult,
  HealthCheckService,
  HealthIndicatorService,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { Public } from '../../auth/access.decorators';
import { ApiResource } from '../../conventions/docs/api.decorators';
import { ApiAdapter } from '../api-adapter';

const DATABASE_PATIENCE_MS = 2_000;

@ApiResource('Health')
@Controller('health')
@Public({ identifies: false })
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly indicators: HealthIndicatorService,
    private readonly host: HttpAdapterHost<ApiAdapter>,
  ) {}

  /** The process runs; when this fails, restart it. */
  @Get('live')
  @HealthCheck({ swaggerDocumentation: false })
  @ApiOkResponse({ description: 'OK' })
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /** It can serve; when this answers 503, send requests elsewhere. */
  @Get('ready')
  @HealthCheck({ swaggerDocumentation: false })
  @ApiOkResponse({ description: 'OK' })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database.pingCheck('database', { timeout: DATABASE_PATIENCE_MS }),
      () => this.accepting(),
    ]);
  }

  private accepting() {
    const indicator = this.indicators.check('accepting');
    return this.host.httpAdapter.draining ? indicator.down() : indicator.up();
  }
}
