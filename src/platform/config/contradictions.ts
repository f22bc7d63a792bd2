import type { Settings } from './settings';

const MIN_SECRET_BYTES = 32;

/** What is wrong with settings that are right one by one. */
export function contradictions(settings: Settings): string[] {
  const { ADMIN_USERNAME, ADMIN_EMAIL, ADMIN_PASSWORD, JWT_PRIVATE_KEY, JWT_SECRET, TLS_CERT, TLS_KEY } = settings;
  const admin = [ADMIN_USERNAME, ADMIN_EMAIL, ADMIN_PASSWORD].filter(Boolean).length;
  const problems: [boolean, string][] = [
    [admin > 0 && admin < 3, 'ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD go together'],
    [Boolean(JWT_PRIVATE_KEY && JWT_SECRET), 'JWT_PRIVATE_KEY and JWT_SECRET exclude each other'],
    [
      JWT_SECRET !== undefined && Buffer.byteLength(JWT_SECRET) < MIN_SECRET_BYTES,
      `JWT_SECRET must have at least ${MIN_SECRET_BYTES} bytes`,
    ],
    [Boolean(TLS_CERT) !== Boolean(TLS_KEY), 'TLS_CERT and TLS_KEY go together'],
    [Boolean(settings.OIDC_ISSUER) !== Boolean(settings.OIDC_AUDIENCE), 'OIDC_ISSUER and OIDC_AUDIENCE go together'],
    [settings.OIDC_ISSUER === settings.JWT_ISSUER, 'OIDC_ISSUER and JWT_ISSUER must differ'],
    ...bucketContradictions(settings),
  ];
  if (settings.production) {
    problems.push(
      [!settings.DATABASE_URL, 'DATABASE_URL must be set in production'],
      [!JWT_PRIVATE_KEY && !JWT_SECRET, 'JWT_PRIVATE_KEY (or JWT_SECRET) must be set in production'],
      [!TLS_CERT && settings.TRUST_PROXY === 0, 'TLS_CERT and TLS_KEY, or TRUST_PROXY, must be set in production'],
      [settings.DEMO_DATA === true, 'DEMO_DATA must not be true in production'],
      [/^http:/i.test(settings.OIDC_ISSUER ?? ''), 'OIDC_ISSUER must be an https URL in production'],
    );
  }
  return problems.filter(([wrong]) => wrong).map(([, message]) => message);
}

/** What belongs to a bucket says nothing without one: whoever sets it believes that uploads go there. */
function bucketContradictions(settings: Settings): [boolean, string][] {
  const { S3_BUCKET, S3_REGION, S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = settings;
  return [
    [Boolean(S3_BUCKET) !== Boolean(S3_REGION), 'S3_BUCKET and S3_REGION go together'],
    [Boolean(S3_ENDPOINT && !S3_BUCKET), 'S3_ENDPOINT goes with S3_BUCKET'],
    [
      Boolean(S3_ACCESS_KEY_ID) !== Boolean(S3_SECRET_ACCESS_KEY),
      'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together',
    ],
    [Boolean(S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY && !S3_BUCKET), 'S3_ACCESS_KEY_ID goes with S3_BUCKET'],
  ];
}
