import {
  ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
} from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { withWellFormedFailures } from '../../src/activities/well-formed-failures.js';
import type { AgentActivities } from '../../src/protocol/activities.js';

const half = 'the provider said \ud83d';

function failing(error: unknown): AgentActivities {
  const completeChat = () => Promise.reject(error as Error);
  return withWellFormedFailures({ completeChat } as unknown as AgentActivities);
}

describe('failures of activities', () => {
  test('have well-formed texts, their causes and stacks included', async () => {
    const error = ApplicationFailure.create({
      type: 'ModelUnavailable',
      message: half,
      details: [1],
      cause: new Error(half, { cause: new TypeError(`\udc00${half}`) }),
    });
    const thrown: unknown = await failing(error)
      .completeChat({} as never)
      .catch((caught: unknown) => caught);
    expect(thrown).toBe(error);
    const failure = new DefaultFailureConverter().errorToFailure(thrown, defaultPayloadConverter);
    const texts = [failure, failure.cause, failure.cause?.cause].flatMap((part) => [
      part?.message ?? '',
      part?.stackTrace ?? '',
    ]);
    for (const text of texts) expect(Buffer.from(text).toString()).toBe(text);
    expect(failure.message).toBe('the provider said \ufffd');
  });

  test('end even if an error is its own cause', async () => {
    const error = new Error(half);
    error.cause = error;
    await expect(failing(error).completeChat({} as never)).rejects.toThrow(
      'the provider said \ufffd',
    );
  });

  test('are thrown on when they are no errors, and results are passed on', async () => {
    await expect(failing('text').completeChat({} as never)).rejects.toBe('text');
    const shouldStopAfterTurn = async () => true;
    const activities = withWellFormedFailures({
      shouldStopAfterTurn,
    } as unknown as AgentActivities);
    expect(await activities.shouldStopAfterTurn({} as never)).toBe(true);
  });
});
