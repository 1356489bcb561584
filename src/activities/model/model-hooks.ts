// Asks the hooks that stand before a model call, and turns what they throw into a failure that names them.

import { ApplicationFailure } from '@temporalio/activity';
import { FailureType } from '../../protocol/failure-types.js';
import { cutUtf8 } from '../../protocol/json.js';
import type { HookName } from '../../protocol/agent-definition.js';

const maxReasonBytes = 1_000;

/** Rejects as soon as the call is cancelled, whether or not `work` looks at the signal. */
export async function unlessCancelled<T>(
  work: () => T | Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  let stop: () => void = () => {};
  const cancelled = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work(), cancelled]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * The hook's answer.
 * @throws HookFailed (final) when it throws, or `problem` finds fault with what it answers
 */
export async function askHook<T>(
  name: HookName,
  ask: () => T | Promise<T>,
  problem: (answer: T) => string | undefined,
  signal: AbortSignal,
  scrub: (text: string) => string,
): Promise<T> {
  let answer: T;
  try {
    answer = await unlessCancelled(ask, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const text = error instanceof Error ? error.message || error.name : String(error);
    throw hookFailed(`The hook ${name} threw: ${cutUtf8(scrub(text), maxReasonBytes)}`);
  }
  const fault = problem(answer);
  if (fault !== undefined) throw hookFailed(`The hook ${name} ${fault}`);
  return answer;
}

function hookFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: FailureType.HookFailed, message, nonRetryable: true });
}
