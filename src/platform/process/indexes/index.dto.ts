import { ApiProperty } from '@nestjs/swagger';
import { RELEASES, VERSIONS } from '../../http/api-version';

const MAX_RESOURCES = 1_000;
const path = (description: string, example: string, required = true) =>
  ApiProperty({ description, example, required, type: String, maxLength: 256, pattern: '^/[\\x21-\\x7e]*$' });
const release = (description: string) =>
  ApiProperty({ description, enum: VERSIONS.map((version) => RELEASES[version]), example: RELEASES[1] });

/** The paths to begin with. */
export class IndexLinksDto {
  @path('This index.', '/api/v1')
  self: string;

  @path('The documentation for people.', '/docs', false)
  documentation?: string;

  @path('The OpenAPI document of this version.', '/docs/json', false)
  document?: string;

  @path('Tells whether the service can answer.', '/health/ready')
  health: string;
}

/** A version of the API. */
export class VersionLinkDto {
  @release('Its release, as its document tells it.')
  version: string;

  @path('Its index.', '/api/v1')
  href: string;

  @path('Its OpenAPI document.', '/docs/json', false)
  document?: string;
}

/** A resource that needs no id. */
export class ResourceLinkDto {
  @ApiProperty({
    description: 'The path below the version.',
    example: 'users',
    type: String,
    maxLength: 256,
    pattern: '^[\\x21-\\x7e]+$',
  })
  name: string;

  @path('The path.', '/api/v1/users')
  href: string;

  @ApiProperty({
    description: 'The methods that it has, beside HEAD and OPTIONS. Some of them may need a token.',
    example: ['GET', 'POST'],
    enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    isArray: true,
    maxItems: 5,
  })
  methods: string[];
}

/** Where to begin. */
export class ApiIndexDto {
  @ApiProperty({ description: 'The name of the service.', enum: ['Resource API'], example: 'Resource API' })
  name: string;

  @release('The release of the version that these links are in.')
  version: string;

  @ApiProperty({ description: 'Where to go from here.', example: { self: '/api/v1', health: '/health/ready' } })
  links: IndexLinksDto;

  @ApiProperty({ description: 'All versions of the API.', type: [VersionLinkDto], maxItems: VERSIONS.length })
  versions: VersionLinkDto[];

  @ApiProperty({
    description: 'What can be asked for without an id, sorted by name.',
    type: [ResourceLinkDto],
    maxItems: MAX_RESOURCES,
  })
  resources: ResourceLinkDto[];
}
