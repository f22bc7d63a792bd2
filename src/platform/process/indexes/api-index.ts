import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express } from 'express';
import { DeclaredAccess } from '../../auth/declared-access';
import { Settings } from '../../config/settings';
import { documentPath } from '../../docs/swagger-ui';
import { RELEASES, type Version, VERSIONS } from '../../http/api-version';
import type { ApiAdapter } from '../../server/api-adapter';
import { ROOT } from '../../routing/version';
import { SECONDS_PER_MINUTE } from '../../units';
import type { ApiIndexDto, ResourceLinkDto } from './index.dto';
import { linkedResources } from './linked-resources';

const HEALTH = '/health/ready';
const PAGE = '/docs';
/** Only another release changes an index. */
export const CACHED = `public, max-age=${5 * SECONDS_PER_MINUTE}`;

/** What the service has: versions, resources, documents. */
@Injectable()
export class ApiIndex {
  private readonly resources = new Map<Version, ResourceLinkDto[]>();

  constructor(
    private readonly settings: Settings,
    private readonly declared: DeclaredAccess,
    private readonly host: HttpAdapterHost<ApiAdapter>,
  ) {}

  /** The page for people, if there is one. */
  get page(): string | undefined {
    return this.settings.API_DOCS ? PAGE : undefined;
  }

  /** @param self the path of the index itself */
  of(version: Version, self: string): ApiIndexDto {
    return {
      name: 'Resource API',
      version: RELEASES[version],
      links: {
        self,
        ...(this.page !== undefined && { documentation: this.page }),
        ...this.documentOf(version),
        health: HEALTH,
      },
      versions: VERSIONS.map((one) => ({
        version: RELEASES[one],
        href: `${ROOT}/v${one}`,
        ...this.documentOf(one),
      })),
      resources: this.resourcesOf(version),
    };
  }

  private documentOf(version: Version): { document?: string } {
    return this.settings.API_DOCS ? { document: `/${documentPath(version)}` } : {};
  }

  /** Controllers' routes don't change after the start. */
  private resourcesOf(version: Version): ResourceLinkDto[] {
    const known = this.resources.get(version);
    if (known) return known;
    const app = this.host.httpAdapter.getInstance<Express>();
    const found = linkedResources(app, this.declared.routes(), version);
    this.resources.set(version, found);
    return found;
  }
}

/** The links of an index as a header (RFC 8288). */
export function linkHeader({ self, documentation, document }: ApiIndexDto['links']): string {
  const links = [
    ['self', self],
    ['describedby', document],
    ['service-doc', documentation],
  ];
  return links.flatMap(([relation, path]) => (path === undefined ? [] : `<${path}>; rel="${relation}"`)).join(', ');
}
