import type { Contradiction } from './declared-settings';
import type { Settings } from './settings';

const MIN_SECRET_BYTES = 32;
/** Plain HTTP that somebody on the way could read and change. Nobody stands between a browser and its own machine. */
const PLAIN_ORIGIN = /^http:\/\/(?!(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$)/i;

/** Checks combinations of settings whose values are valid on their own. */
export function contradictions(settings: Settings): Contradiction[] {
  const { JWT_PRIVATE_KEY, JWT_SECRET, TLS_CERT, TLS_KEY } = settings;
  const problems: Contradiction[] = [
    [Boolean(JWT_PRIVATE_KEY && JWT_SECRET), 'JWT_PRIVATE_KEY and JWT_SECRET exclude each other'],
    [
      JWT_SECRET !== undefined && Buffer.byteLength(JWT_SECRET) < MIN_SECRET_BYTES,
      `JWT_SECRET must have at least ${MIN_SECRET_BYTES} bytes`,
    ],
    [Boolean(TLS_CERT) !== Boolean(TLS_KEY), 'TLS_CERT and TLS_KEY go together'],
    [Boolean(settings.OIDC_ISSUER) !== Boolean(settings.OIDC_AUDIENCE), 'OIDC_ISSUER and OIDC_AUDIENCE go together'],
    [settings.METRICS_PORT === settings.PORT && settings.PORT !== 0, 'METRICS_PORT and PORT must differ'],
    [settings.OIDC_ISSUER === settings.JWT_ISSUER, 'OIDC_ISSUER and JWT_ISSUER must differ'],
  ];
  if (settings.production) {
    problems.push(
      [!settings.DATABASE_URL, 'DATABASE_URL must be set in production'],
      [!JWT_PRIVATE_KEY && !JWT_SECRET, 'JWT_PRIVATE_KEY (or JWT_SECRET) must be set in production'],
      [!TLS_CERT && settings.TRUST_PROXY === 0, 'TLS_CERT and TLS_KEY, or TRUST_PROXY, must be set in production'],
      [settings.DEMO_DATA === true, 'DEMO_DATA must not be true in production'],
      [
        settings.CORS_ORIGINS.some((origin) => PLAIN_ORIGIN.test(origin)),
        'CORS_ORIGINS must be https origins in production',
      ],
      [/^http:/i.test(settings.OIDC_ISSUER ?? ''), 'OIDC_ISSUER must be an https URL in production'],
    );
  }
  return problems;
}
