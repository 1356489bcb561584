// A Temporal client that lets the test server skip time while a result is awaited.
//
// The SDK's own lets time run free meanwhile, and then nothing holds it: where a workflow waits for a
// person, the next thing due is the end of its ten years, and it times out before the test can answer. Here
// time goes on in steps, with a moment between them in which the test gets its word in. No step goes past
// work that is being done: the server's clock keeps its usual pace while an activity is executed.

import { setTimeout as pause } from 'node:timers/promises';
import { Client, WorkflowClient } from '@temporalio/client';
import type { Connection, WorkflowResultOptions } from '@temporalio/client';
import type { Workflow, WorkflowResultType } from '@temporalio/common';

/** Lets so much of the server's time pass. */
export type Sleep = (milliseconds: number) => Promise<void>;

const firstStepMs = 60_000;
const longestStepMs = 24 * 3_600_000;
const betweenStepsMs = 10;

export class TimeSkippingClient extends Client {
  override readonly workflow: WorkflowClient;

  constructor(
    options: { readonly connection: Connection; readonly namespace: string },
    sleep: Sleep,
  ) {
    super(options);
    this.workflow = new TimeSkippingWorkflowClient(options, sleep);
  }
}

class TimeSkippingWorkflowClient extends WorkflowClient {
  readonly #sleep: Sleep;

  constructor(
    options: { readonly connection: Connection; readonly namespace: string },
    sleep: Sleep,
  ) {
    super(options);
    this.#sleep = sleep;
  }

  override async result<T extends Workflow>(
    workflowId: string,
    runId?: string,
    options?: WorkflowResultOptions,
  ): Promise<WorkflowResultType<T>> {
    const ended = new AbortController();
    try {
      return await Promise.race([
        super.result<T>(workflowId, runId, options),
        this.#skip(ended.signal),
      ]);
    } finally {
      ended.abort();
    }
  }

  /** Rejects when time cannot be skipped; else lets it pass until the end and never resolves. */
  async #skip(ended: AbortSignal): Promise<never> {
    for (let stepMs = firstStepMs; !ended.aborted; stepMs = Math.min(stepMs * 2, longestStepMs)) {
      await this.#sleep(stepMs);
      await pause(betweenStepsMs);
    }
    return new Promise<never>(() => {});
  }
}
