import { problemsOf } from '../support/problems-of';
import '../../src/app.module';

const production = { NODE_ENV: 'production' };
const enough = { ...production, DATABASE_URL: 'postgres://db/x', JWT_SECRET: 'x'.repeat(32), TRUST_PROXY: '1' };

describe('Settings of production', () => {
  it('leave nothing to chance', () => {
    expect(problemsOf({ ...production, DEMO_DATA: 'true' })).toEqual([
      'DATABASE_URL must be set in production',
      'JWT_PRIVATE_KEY (or JWT_SECRET) must be set in production',
      'TLS_CERT and TLS_KEY, or TRUST_PROXY, must be set in production',
      'DEMO_DATA must not be true in production',
    ]);
    expect(problemsOf(enough)).toEqual([]);
    expect(problemsOf({ ...enough, TRUST_PROXY: '0', TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' })).toEqual([]);
  });

  it.each(['http://app.example', 'http://localhost.app.example', 'http://127.0.0.1.app.example:80'])(
    'take no browser from %s, whose scripts anyone on the way can change',
    (origin) => {
      const settings = { ...enough, CORS_ORIGINS: `https://other.example,${origin}` };

      expect(problemsOf(settings)).toEqual(['CORS_ORIGINS must be https origins in production']);
      expect(problemsOf({ CORS_ORIGINS: origin })).toEqual([]);
    },
  );

  it.each(['https://app.example', 'http://localhost:5173', 'http://127.0.0.1', 'http://[::1]:3000'])(
    'take browsers from %s',
    (CORS_ORIGINS) => {
      expect(problemsOf({ ...enough, CORS_ORIGINS })).toEqual([]);
    },
  );

  it.each(['http://id.example', 'HTTP://id.example', 'http://127.0.0.1:8080', 'http://localhost'])(
    'believe no identity provider at %s, whose keys anyone on the way can change',
    (OIDC_ISSUER) => {
      const provider = { OIDC_ISSUER, OIDC_AUDIENCE: 'api' };
      const all = { ...enough, ...provider };

      expect(problemsOf(all)).toEqual(['OIDC_ISSUER must be an https URL in production']);
      expect(problemsOf({ ...all, OIDC_ISSUER: OIDC_ISSUER.replace(/^http/i, 'https') })).toEqual([]);
      expect(problemsOf(provider)).toEqual([]);
    },
  );
});
