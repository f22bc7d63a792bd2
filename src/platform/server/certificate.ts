import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';

interface Pem {
  cert: Buffer;
  key: Buffer;
}

/** The certificate of the process for HTTPS. Its files may be replaced while the process runs. */
export class Certificate {
  private constructor(
    private readonly certFile: string,
    private readonly keyFile: string,
  ) {}

  /** The certificate of TLS_CERT and TLS_KEY; undefined without them. */
  static of({ TLS_CERT, TLS_KEY }: Settings): Certificate | undefined {
    return TLS_CERT && TLS_KEY ? new Certificate(TLS_CERT, TLS_KEY) : undefined;
  }

  /** @throws {StartupError} when the files can't be read, or don't match */
  read(): Pem {
    try {
      const pem = { cert: readFileSync(this.certFile), key: readFileSync(this.keyFile) };
      createSecureContext(pem);
      return pem;
    } catch (error) {
      const reason = (error as Error).message;
      throw new StartupError(`TLS_CERT and TLS_KEY can't be used: ${reason}`, { cause: error });
    }
  }

  /**
   * Uses the current files for new connections. Open connections keep the old certificate.
   * @throws {StartupError} and keeps the old one in use
   */
  renew(server: Server): void {
    server.setSecureContext(this.read());
  }
}
