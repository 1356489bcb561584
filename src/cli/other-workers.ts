// Which other workers poll a task queue. Two projects whose `holdfast dev` share one would get each other's
// agents, and run tools in each other's directory.

import { hostname } from 'node:os';
import type { NativeConnection } from '@temporalio/worker';
import { isAlive } from '../dev-server/server-process.js';

/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's API. */
const workflowQueue = 1;

/** A poll lasts a minute; the server remembers pollers for five. */
const rememberedMs = 75_000;

/**
 * Identities of the workers that poll `taskQueue`, as the server shows them: `pid@host` where nobody chose
 * another. One of this machine whose process has ended is left out: the server forgets it only later. Nobody
 * where the server does not say: a warning less is no reason not to serve.
 */
export async function otherWorkers(
  connection: NativeConnection,
  namespace: string,
  taskQueue: string,
): Promise<readonly string[]> {
  const { pollers } = await connection.workflowService
    .describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: workflowQueue,
    })
    .catch(() => ({ pollers: [] }));
  return (pollers ?? [])
    .filter(({ lastAccessTime }) => {
      return Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000 < rememberedMs;
    })
    .map(({ identity }) => identity ?? '')
    .filter((identity) => identity !== '' && !isEnded(identity));
}

/** Whether it names a process of this machine that is not there, or this one. */
function isEnded(identity: string): boolean {
  const [, id, host] = /^(\d+)@(.+)$/.exec(identity) ?? [];
  if (id === undefined || host !== hostname()) return false;
  const pid = Number(id);
  return pid === process.pid || !isAlive(pid);
}
