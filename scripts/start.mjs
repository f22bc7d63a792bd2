// npm start: builds unless that is done, and becomes the service.
import { setInterval } from 'node:timers';
import './build-if-changed.mjs';

const PARENT_CHECK_INTERVAL = 500;

// npm passes signals on to its shell, which passes them on to nobody. The end of the shell is the signal.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), PARENT_CHECK_INTERVAL).unref();

await import('../dist/main.js');
