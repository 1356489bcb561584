import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { describe, expect, test } from 'vitest';
import { toModelFailure } from '../../../src/activities/model/model-failure.js';
import { retryAfterMs } from '../../../src/activities/model/retry-after.js';
import { FailureType } from '../../../src/protocol/failure-types.js';

const answer = (status: number | undefined, error: object) =>
  new APIError(status, error, undefined, new Headers());

describe('toModelFailure', () => {
  test.each([400, 401, 402, 403, 404, 405, 410, 413, 422])('HTTP %i is final', (status) => {
    expect(toModelFailure(answer(status, { message: 'x' })).failure.nonRetryable).toBe(true);
  });

  test.each([408, 409, 425, 429, 500, 502, 503, 504, 522, 529])('HTTP %i is retried', (status) => {
    expect(toModelFailure(answer(status, { message: 'x' })).failure.nonRetryable).toBe(false);
  });

  test.each([
    { type: 'insufficient_quota', message: 'x' },
    { code: 'insufficient_quota', message: 'x' },
    { code: 'credit_balance_exhausted', message: 'x' },
    { code: 'organization_spend_limit_exceeded', message: 'x' },
    { code: 'project_spend_limit_exceeded', message: 'x' },
    { code: 'organization_usage_limit_exceeded', message: 'x' },
    { message: 'You exceeded your current quota, please check your plan and billing details.' },
    { message: 'Insufficient balance' },
    { message: 'Your credit balance is too low to access the API.' },
  ])('L19: a 429 for quota or billing is final: %o', (error) => {
    expect(toModelFailure(answer(429, error)).failure).toMatchObject({
      type: FailureType.ModelRequestRejected,
      nonRetryable: true,
    });
  });

  test.each([
    { code: 'rate_limit_exceeded', message: 'Rate limit reached' },
    { code: 'slow_down', message: 'Slow down' },
    { message: 'Quota exceeded, check your plan and billing details. Please retry in 33.1s.' },
  ])('a 429 that passes is retried: %o', (error) => {
    expect(toModelFailure(answer(429, error)).failure.nonRetryable).toBe(false);
  });

  test.each([
    new APIConnectionError({ message: 'Connection error.' }),
    new APIConnectionTimeoutError(),
    new TypeError('terminated', {
      cause: Object.assign(new Error(''), { code: 'UND_ERR_SOCKET' }),
    }),
    Object.assign(new Error(''), { code: 'ECONNRESET' }),
    Object.assign(new Error('getaddrinfo ENOTFOUND host'), { code: 'ENOTFOUND' }),
    new Error('Connection closed.'),
    new Error('Network connection lost.'),
    new Error('EPIPE'),
    answer(undefined, { message: 'Connection closed.' }),
    'a thrown text',
  ])('L37: no answer is retried: %s', (error) => {
    expect(toModelFailure(error).failure).toMatchObject({
      type: FailureType.ModelUnavailable,
      nonRetryable: false,
    });
  });

  test('the reason that Node hides in the cause is told', () => {
    const cause = Object.assign(new Error(''), { code: 'ECONNRESET' });
    expect(toModelFailure(new TypeError('fetch failed', { cause })).failure.message).toBe(
      'The connection to the model failed: fetch failed: ECONNRESET',
    );
  });

  test('delays double from one second, until the sixth failure is final', () => {
    const error = answer(503, { message: 'x' });
    const outcomes = [0, 1, 2, 3, 4, 5].map(
      (earlierFailures) => toModelFailure(error, { earlierFailures }).retry?.delayMs,
    );
    expect(outcomes).toEqual([1000, 2000, 4000, 8000, 16_000, undefined]);
    expect(toModelFailure(error, { earlierFailures: 5 }).failure.nonRetryable).toBe(true);
    expect(toModelFailure(error, { earlierFailures: 60 }).failure.nonRetryable).toBe(true);
  });
});

describe('retryAfterMs', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  test.each([
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': ' 12 ' }, 12_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
    [{ 'retry-after': 'in 5 minutes' }, undefined],
    [{ 'retry-after': '5s' }, undefined],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ])('%o is %s ms', (headers, expected) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>), now)).toBe(expected);
  });
});
