import { ApiProperty } from '@nestjs/swagger';

const checks = (description: string, example: object) =>
  ApiProperty({
    description,
    example,
    type: 'object',
    additionalProperties: {
      type: 'object',
      required: ['status'],
      properties: {
        status: { type: 'string', enum: ['up', 'down'], description: 'Whether the check passed.', example: 'up' },
        responseTime: {
          type: 'integer',
          format: 'int32',
          minimum: 0,
          maximum: 2 ** 31 - 1,
          description: 'Milliseconds until the database answered.',
          example: 2,
        },
      },
    },
  });

/** The result of a health check. */
export class HealthDto {
  @ApiProperty({ description: 'All checks passed.', enum: ['ok'], example: 'ok' })
  status: 'ok';

  @checks('The checks that passed, by name.', { database: { status: 'up' } })
  info: object;

  @checks('The checks that failed, by name. It is empty, because the answer is 503 when a check fails.', {})
  error: object;

  @checks('The sum of both.', { database: { status: 'up' } })
  details: object;
}
