import { ApiProperty } from '@nestjs/swagger';
import { SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE, Text, Whole } from '../../platform';

/** How long a new link opens an upload. */
export class CreateLinkDto {
  /**
   * Seconds until the link expires.
   * @example 3600
   */
  @Whole({ min: SECONDS_PER_MINUTE, max: 7 * SECONDS_PER_DAY, default: SECONDS_PER_HOUR })
  expires_in: number;
}

/** An address that needs no token. */
export class LinkDto {
  /**
   * The path of the content on this service. Whoever knows it can read the content until the link expires.
   * @example /api/v1/uploads/3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11/links/1767229200.2ZxJmVbYb0Qk3p9mJm8b6x1Zk0y8f2r3VqTn5sLw7aE
   */
  @Text({ max: 256 })
  url: string;

  /**
   * The time at which the link expires.
   * @example 2026-01-01T01:00:00.000Z
   */
  @ApiProperty({ type: String, format: 'date-time', maxLength: 24 })
  expires_at: Date;
}
