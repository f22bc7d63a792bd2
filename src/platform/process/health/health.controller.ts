import { Controller, Get, Header } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  type HealthCheckResult,
  HealthCheckService,
  HealthIndicatorService,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { Public } from '../../auth/access.decorators';
import { AnswersWhole, ApiResource } from '../../routes/route.decorators';
import { ApiAdapter } from '../../server/api-adapter';
import { HealthDto } from './health.dto';

const DATABASE_PATIENCE_MS = 2_000;

@ApiResource('Health', 'For the operators of the service.')
@Controller('health')
@Public({ identifies: false })
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly indicators: HealthIndicatorService,
    private readonly host: HttpAdapterHost<ApiAdapter>,
  ) {}

  /**
   * Tells whether the process runs.
   * @remarks When it does not answer, restart it.
   */
  @Get('live')
  @Header('Cache-Control', 'no-store')
  @AnswersWhole(HealthDto)
  live(): HealthDto {
    // terminus isn't asked, because it reports a draining process as down, which might then be killed.
    return { status: 'ok', info: {}, error: {}, details: {} };
  }

  /**
   * Tells whether the process can serve requests.
   * @remarks When it answers 503, send requests elsewhere: the database is away, or it is shutting down.
   */
  @Get('ready')
  @Header('Cache-Control', 'no-store')
  @AnswersWhole(HealthDto)
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
