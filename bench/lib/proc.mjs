// Reads facts about processes from /proc. Undefined for a process that doesn't exist, and on systems without /proc.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK']).stdout ?? 0) || 100;
const MILLISECONDS_PER_TICK = 1_000 / TICKS_PER_SECOND;
const KIB = 1024;
const SLEEPING = 'S';

// Fields of /proc/<pid>/stat, counted after the name, which may contain blanks.
const STATE = 0;
const PARENT = 1;
const OWN_TIMES = [11, 12];
const TIMES_OF_ENDED_CHILDREN = [13, 14];

/** CPU time of all threads, in user and system mode, in milliseconds. */
export function cpuOf(pid) {
  return milliseconds(pid, OWN_TIMES);
}

/** CPU time of ended children in milliseconds. */
export function cpuOfEndedChildren(pid) {
  return milliseconds(pid, TIMES_OF_ENDED_CHILDREN);
}

/** Whether a process waits for something, and has nothing to do. True if nothing is known. */
export function isAsleep(pid) {
  return (statOf(pid)?.[STATE] ?? SLEEPING) === SLEEPING;
}

export function parentOf(pid) {
  const fields = statOf(pid);
  return fields && Number(fields[PARENT]);
}

export function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
}

/** A process with those that it has started. */
export function familyOf(pid) {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

export function nameOf(pid) {
  return read(pid, 'comm')?.trim();
}

/** Physical memory in bytes. */
export function residentMemoryOf(pid) {
  const size = statusOf(pid, 'VmRSS');
  return size && parseInt(size, 10) * KIB;
}

/** The numbers of the cores that it may run on. */
export function coresOf(pid) {
  return statusOf(pid, 'Cpus_allowed_list')
    ?.split(',')
    .flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, place) => first + place);
    });
}

function milliseconds(pid, fields) {
  const stat = statOf(pid);
  return stat && fields.reduce((sum, field) => sum + Number(stat[field]), 0) * MILLISECONDS_PER_TICK;
}

function statOf(pid) {
  const text = read(pid, 'stat');
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function statusOf(pid, name) {
  return read(pid, 'status')?.match(new RegExp(`^${name}:\\s*(.*)$`, 'm'))?.[1];
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
