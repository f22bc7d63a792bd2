import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** Keys and passwords of one run, which are never stored. */
export function makeSecrets() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    jwtSecret: randomBytes(32).toString('hex'),
    password: randomBytes(16).toString('hex'),
    admin: { username: 'bench-admin', email: 'bench-admin@example.com', password: randomBytes(16).toString('hex') },
  };
}
