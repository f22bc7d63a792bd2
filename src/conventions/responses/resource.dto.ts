import { ApiProperty } from '@nestjs/swagger';
import type { ResourceEntity } from '../../database/resource.entity';
import { Id, Timestamp } from '../requests/attributes';
import { VERSION } from './entity-tag';

/** What every resource shows of itself. */
export abstract class ResourceDto {
  /** Identifies the resource; appears in its path. @example 1 */
  @Id()
  @ApiProperty({ readOnly: true })
  id: number;

  /** When it was created, ISO 8601 in UTC. @example 2026-01-31T12:00:00.000Z */
  @Timestamp()
  created_at: Date;

  /** When it last changed, ISO 8601 in UTC. @example 2026-01-31T12:00:00.000Z */
  @Timestamp()
  updated_at: Date;
}

/** The shared attributes of a row, by name, and its version for the entity tag. */
export function resourceAttributes({ id, created_at, updated_at, version }: ResourceEntity): ResourceDto {
  const attributes = { id, created_at, updated_at, [VERSION]: version };
  return attributes;
}
