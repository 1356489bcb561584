import type { Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { toAgentWorker } from '../../src/worker/agent-worker.js';

/** Runs until it is told to stop, or until it fails. */
function pretend(taskQueue: string) {
  let end = () => {};
  let fail: (error: Error) => void = () => {};
  let state = 'INITIALIZED';
  let shutdowns = 0;
  const worker = {
    getState: () => state,
    run: () => {
      state = 'RUNNING';
      return new Promise<void>((resolve, reject) => {
        end = () => ((state = 'STOPPED'), resolve());
        fail = (error) => ((state = 'FAILED'), reject(error));
      });
    },
    shutdown: () => {
      if (state !== 'RUNNING') throw new Error(`Not running: ${state}`);
      state = 'DRAINING';
      shutdowns += 1;
    },
  };
  return {
    queue: { taskQueue, worker: worker as unknown as Worker },
    end: () => end(),
    fail: (message: string) => fail(new Error(message)),
    shutdowns: () => shutdowns,
  };
}

describe('a worker of several task queues', () => {
  test('stops all of them once, and has ended when all have', async () => {
    const [main, left] = [pretend('q'), pretend('q/workspace/left')];
    const worker = toAgentWorker([main.queue, left.queue], true);
    expect(worker.taskQueues).toEqual(['q', 'q/workspace/left']);
    worker.shutdown();
    let hasEnded = false;
    const running = worker.run().then(() => (hasEnded = true));
    worker.shutdown();
    worker.shutdown();
    main.end();
    await new Promise((resolve) => setTimeout(resolve));
    expect(hasEnded).toBe(false);
    left.end();
    await running;
    expect([main.shutdowns(), left.shutdowns()]).toEqual([1, 1]);
  });

  test('one that fails has the others shut down, and its error is the one that is thrown', async () => {
    const [main, left] = [pretend('q'), pretend('q/workspace/left')];
    const worker = toAgentWorker([main.queue, left.queue], true);
    let failure: unknown;
    const running = worker.run().catch((error: unknown) => (failure = error));
    left.fail('no such namespace');
    await new Promise((resolve) => setTimeout(resolve));
    expect(main.shutdowns()).toBe(1);
    // What the main queue runs may finish.
    expect(failure).toBeUndefined();
    main.fail('a consequence');
    await running;
    expect(failure).toMatchObject({ message: 'no such namespace' });
  });
});
