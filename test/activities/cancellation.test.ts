import { MockActivityEnvironment } from '@temporalio/testing';
import { ActivityCancellationDetails } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { ending, interruptedFailure } from '../../src/activities/cancellation.js';

describe('ending', () => {
  test.each([
    ['cancelRequested', 'abort'],
    ['workerShutdown', 'interrupted'],
    ['paused', 'interrupted'],
    ['reset', 'interrupted'],
    ['timedOut', 'interrupted'],
    ['notFound', 'interrupted'],
  ] as const)('is none, and after %s %s', async (reason, kind) => {
    const environment = new MockActivityEnvironment();
    const endings = await environment.run(async () => {
      const before = ending();
      environment.cancel('CANCELLED', new ActivityCancellationDetails({ [reason]: true }));
      return [before, ending()];
    });
    expect(endings).toEqual(['none', kind]);
  });
});

describe('the failure of an interrupted attempt', () => {
  test('lets another attempt be made', () => {
    expect(interruptedFailure()).toMatchObject({ type: 'WorkerShuttingDown', nonRetryable: false });
  });
});
