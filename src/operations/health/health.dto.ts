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
        status: { type: 'string', enum: ['up', 'down'], description: 'Whether it works.', example: 'up' },
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

/** What a health check found. */
export class HealthDto {
  @ApiProperty({ description: 'All is well.', enum: ['ok'], example: 'ok' })
  status: 'ok';

  @checks('What works, by name.', { database: { status: 'up' } })
  info: object;

  @checks('What does not; empty, as such an answer is an error.', {})
  error: object;

  @checks('Both together.', { database: { status: 'up' } })
  details: object;
}
