import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../src/platform/testing';
import type { Cluster, Instance } from './cluster';
import { nextBuild } from './next-build';
import { childrenOf } from './children';

export interface Fault {
  name: string;
  /** What is made ready before the load begins, as it would hold up the process that sends the load. */
  prepare?(cluster: Cluster): void;
  /** Happens under load. Resolves when everything is as before, or as it shall be from now on. */
  happen(cluster: Cluster): Promise<void>;
  /** Whether attempts that are under way there may fail. */
  mayFail: boolean;
  /** Milliseconds until there is a success again. */
  patience: number;
}

/** As long as whoever restarts it takes, in milliseconds. */
const SUPERVISOR = 1_000;

async function restart({ service, url }: Instance, cluster: Cluster): Promise<void> {
  service.start();
  await cluster.ready(url);
}

/** HAProxy takes an instance back after two checks. */
const TAKEN_BACK = 1_000;

export const FAULTS: Fault[] = [
  {
    name: 'kill -9 of a worker',
    mayFail: true,
    patience: 2_000,
    async happen({ instances }) {
      const [worker] = childrenOf(instances[0].service.pid);
      process.kill(worker, 'SIGKILL');
      await waitFor(() => childrenOf(instances[0].service.pid).filter((pid) => pid !== worker).length === 2);
    },
  },
  {
    name: 'kill -9 of an instance',
    mayFail: true,
    patience: 2_000,
    async happen(cluster) {
      await cluster.instances[1].service.kill();
      await sleep(SUPERVISOR);
      await restart(cluster.instances[1], cluster);
    },
  },
  {
    name: 'kill -9 of Redis',
    mayFail: false,
    patience: 2_000,
    async happen({ redis }) {
      await redis.kill();
      await sleep(SUPERVISOR);
      redis.start();
    },
  },
  {
    name: 'kill -9 of PgBouncer',
    mayFail: true,
    patience: 2_000,
    async happen({ instances }) {
      const { pooler } = instances[2];
      await pooler.kill();
      await sleep(SUPERVISOR);
      pooler.start();
    },
  },
  {
    name: 'rolling restart to a build with one more migration',
    mayFail: false,
    patience: 2_000,
    prepare(cluster) {
      cluster.build = nextBuild();
    },
    async happen(cluster) {
      for (const instance of cluster.instances) {
        await instance.service.stop('SIGTERM');
        await restart(instance, cluster);
        await sleep(TAKEN_BACK);
      }
    },
  },
  {
    name: 'loss of the primary, promotion of the standby',
    mayFail: true,
    patience: 5_000,
    async happen({ postgres }) {
      await postgres.primary.kill();
      await postgres.promote();
    },
  },
];
