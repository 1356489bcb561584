// The worker that a session waits for: on which task queue, and whether there can be one.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { askServer, askWorker } from './calls.js';
import { WorkerUnreachable } from './errors.js';
import type { Answer } from './follower.js';

/** A worker that has the session in its cache answers in milliseconds. */
const slowAnswerMs = 1_000;

/**
 * Asks as `askWorker` does, and looks after a second whether anyone polls the session's task queue: where
 * nobody does, a question would only run into its deadline.
 */
export async function askPollingWorker<T>(
  client: Client,
  workflowId: string,
  call: () => Promise<T>,
): Promise<Answer<T>> {
  const over = new AbortController();
  const asked = askWorker(client, workflowId, () => client.withAbortSignal(over.signal, call));
  const slow = sleep(slowAnswerMs, true, { ref: false, signal: over.signal });
  try {
    const isSlow = await Promise.race([asked.then(() => false), slow]);
    if (!isSlow || (await awaitedWorker(client, workflowId))?.isPolled !== false) {
      return await asked;
    }
    return { kind: 'unreachable', what: 'worker', reason: 'nobody polls its task queue' };
  } finally {
    slow.catch(() => {});
    over.abort();
  }
}

/** The error of a session that no worker answers for, with the task queue it waits on. */
export async function workerUnreachable(
  client: Client,
  workflowId: string,
  cause: unknown,
): Promise<WorkerUnreachable> {
  const awaited = await awaitedWorker(client, workflowId);
  const where = awaited === undefined ? {} : { taskQueue: awaited.taskQueue };
  return new WorkerUnreachable(workflowId, { ...where, cause });
}

interface AwaitedWorker {
  readonly taskQueue: string;
  /** False: nobody has polled the queue for minutes. A worker that has just died still counts. */
  readonly isPolled: boolean;
}

/** Undefined when the server does not say. */
async function awaitedWorker(
  client: Client,
  workflowId: string,
): Promise<AwaitedWorker | undefined> {
  try {
    const answer = await askServer(client, workflowId, async () => {
      const { taskQueue } = await client.workflow.getHandle(workflowId).describe();
      const { pollers } = await client.workflowService.describeTaskQueue({
        namespace: client.options.namespace,
        taskQueue: { name: taskQueue },
        // Of workflow tasks, which queries are.
        taskQueueType: 1,
      });
      return { taskQueue, isPolled: (pollers ?? []).length > 0 };
    });
    return answer.kind === 'answer' ? answer.value : undefined;
  } catch {
    // The caller has an error of its own to tell.
    return undefined;
  }
}
