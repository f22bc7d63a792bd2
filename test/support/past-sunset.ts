import type { INestApplication } from '@nestjs/common';
import { HEADERS_METADATA } from '@nestjs/common/constants';
import { DeclaredAccess } from '../../src/platform/auth/declared-access';

interface DeclaredHeader {
  name: string;
  value: unknown;
}

/** The names of the routes that @Deprecated() says are gone by now. */
export function routesPastSunset(app: INestApplication, now: Date): string[] {
  return app
    .get(DeclaredAccess)
    .routes()
    .filter(({ targets: [handler] }) => {
      const headers = (Reflect.getMetadata(HEADERS_METADATA, handler) ?? []) as DeclaredHeader[];
      return headers.some(({ name, value }) => name === 'Sunset' && new Date(String(value)) <= now);
    })
    .map(({ name }) => name);
}
