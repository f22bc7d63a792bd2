import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';

interface Pem {
  cert: Buffer;
  key: Buffer;
}

/** The certificate that the process itself serves HTTPS with, in files that are replaced while it runs. */
export class Certificate {
  private constructor(
    private readonly certFile: string,
    private readonly keyFile: string,
  ) {}

  /** The one that TLS_CERT and TLS_KEY name; undefined when a proxy ends TLS, or nobody does. */
  static of({ TLS_CERT, TLS_KEY }: Settings): Certificate | undefined {
    return TLS_CERT && TLS_KEY ? new Certificate(TLS_CERT, TLS_KEY) : undefined;
  }

  /** @throws {StartupError} when the files can't be read, or don't fit together */
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
   * Has new connections use what is in the files now; those that are open stay as they are.
   * @throws {StartupError} and leaves the old one in use
   */
  renew(server: Server): void {
    server.setSecureContext(this.read());
  }
}
