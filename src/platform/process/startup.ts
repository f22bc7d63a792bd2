import type { Logger } from 'pino';
import type { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';
import { describeError } from '../logging/logging';

const UNUSABLE_PATH = /^(EACCES|EPERM|EROFS|ENOSPC|ENOTDIR|EEXIST|EISDIR|ENAMETOOLONG)$/;

export interface Whereabouts {
  port: number;
  demo: Demo;
}

/** Accounts with a published password, for exploring. */
export interface Demo {
  /** True if there are demo accounts. The service then listens on this machine only, unless HOST says otherwise. */
  open: boolean;
  /** True if one can sign in as a user and as an administrator. The start then prints how. */
  offered: boolean;
}

/** Logs the addresses of the started service. */
export function announce(settings: Settings, logger: Logger, { port, demo }: Whereabouts): void {
  const base = `${settings.TLS_CERT ? 'https' : 'http'}://localhost:${port}`;
  logger.info({ port }, `API      ${base}/api/v1`);
  if (settings.API_DOCS) logger.info(`Docs     ${base}/docs`);
  logger.info(`Data     ${settings.DATABASE_URL ? 'the database of DATABASE_URL' : settings.DATA_DIR}`);
  if (demo.offered) logger.info('Sign in  ada (a user) or grace (an administrator), password demo-password');
  const address = settings.listenAddress(demo.open);
  if (!settings.HOST && address) {
    logger.info(`Open to  this machine alone (${address}), as the demo password is no secret; HOST opens it to others`);
  }
}

/** One clear message. Only an unexpected failure has a stack. */
export function reasonOf(error: unknown): string {
  if (error instanceof StartupError) return error.message;
  const { code, port, address, path, message } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  if (code === 'EADDRINUSE') return `Port ${port} is taken by another process; set PORT to a free one.`;
  if (code === 'EACCES' && port)
    return `Port ${port} needs more rights than this user has; set PORT to one above 1023.`;
  if (code === 'EADDRNOTAVAIL') return `This machine has no address ${address}; set HOST to one that it has.`;
  if (path && UNUSABLE_PATH.test(code ?? '')) return `${message}. Set DATA_DIR to a folder that this user may write.`;
  const described = describeError(error);
  return typeof described === 'string' ? described : (described.stack ?? described.message);
}
