// Runs a tool's function between its start and its end, whichever comes: a result, an exception, an abort,
// its time being up, the worker's shutdown. A tool that ignores its signal is waited for, but not for long.

import { Context } from '@temporalio/activity';
import type { CallToolInput, ToolResult } from '../../protocol/activities.js';
import type { JsonObject } from '../../protocol/json.js';
import { timeouts } from '../../protocol/limits.js';
import type { TailView } from '../../protocol/live-views.js';
import { plainText } from '../../protocol/plain-value.js';
import { ending, interruptedFailure } from '../cancellation.js';
import type { ToolContext, ToolDefinition, Workspace } from '../definitions.js';
import { redactedMessage } from '../secrets.js';
import type { Redactor } from '../secrets.js';
import { LiveOutput } from './live-output.js';
import { longestTimerMs, ToolStopped } from './stop-reason.js';
import type { StopCause } from './stop-reason.js';
import { textResult, toToolResult } from './tool-output.js';

export interface Execution {
  readonly tool: ToolDefinition;
  readonly args: JsonObject;
  readonly input: CallToolInput;
  readonly workspace: Workspace;
  readonly redactor: Redactor;
  /** Asked when the tool looks at it: few do, and each value is searched for secrets. */
  readonly environment: () => ToolContext['environment'];
  readonly maxTimeoutMs: number;
  /** Gets the end of what the tool has shown so far. */
  readonly show: (output: TailView) => void;
}

const defaultTimeoutMs = 10 * 60_000;

type Settled =
  | { readonly kind: 'returned'; readonly output: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  /** Still running when the wait was over. */
  | { readonly kind: 'unsettled' };

/** @throws WorkerShuttingDown when the attempt is interrupted: its outcome is for another attempt, or unknown. */
export async function executeTool(execution: Execution): Promise<ToolResult> {
  const { tool, redactor } = execution;
  const timeoutMs = Math.min(tool.timeoutMs ?? defaultTimeoutMs, longestTimerMs);
  const started = performance.now();
  const stop = watchForStop(Context.current(), timeoutMs);
  try {
    const settled = await settle(execution, stop.signal);
    const cause = stop.cause();
    if (cause === 'interrupted') throw interruptedFailure();
    const result = toResult(settled, cause, timeoutMs, redactor);
    return { ...result, durationMs: Math.round(performance.now() - started) };
  } finally {
    stop.dispose();
  }
}

/** Calls the function and waits; once the signal has aborted, for a bounded time only. */
async function settle(execution: Execution, signal: AbortSignal): Promise<Settled> {
  const live = liveUpdates(execution);
  const call = async (): Promise<Settled> => {
    try {
      return { kind: 'returned', output: await callFunction(execution, signal, live.update) };
    } catch (error) {
      return { kind: 'threw', error };
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<Settled>((resolve) => {
    const wait = () => {
      timer = setTimeout(() => resolve({ kind: 'unsettled' }), timeouts.abortGiveUpMs);
    };
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait, { once: true });
  });
  try {
    return await Promise.race([call(), givenUp]);
  } finally {
    clearTimeout(timer);
    live.close();
  }
}

function callFunction(
  { tool, args, input, workspace, redactor, environment, maxTimeoutMs }: Execution,
  signal: AbortSignal,
  update: (partial: string) => void,
) {
  return tool.execute(args, {
    toolCallId: input.toolCallId,
    toolName: input.toolName,
    workspace,
    signal,
    attempt: Context.current().info.attempt,
    maxResultBytes: input.maxResultBytes,
    maxImageBytes: input.maxImageBytes,
    get environment() {
      return environment();
    },
    maxTimeoutMs,
    redacting: () => redactor.stream(),
    update,
  });
}

/** Updates that come after `close` are dropped: the call has its result. */
function liveUpdates({ redactor, show }: Execution) {
  const redacting = redactor.stream();
  const live = new LiveOutput();
  let open = true;
  return {
    update: (partial: string) => {
      if (!open) return;
      live.append(plainText(redacting.push(String(partial))));
      show(live.view);
    },
    close: () => {
      open = false;
    },
  };
}

/** A signal for the tool, and why it aborted: whatever came first. */
function watchForStop(context: Context, timeoutMs: number) {
  const controller = new AbortController();
  let cause: StopCause | undefined;
  const stop = (reason: StopCause, message: string) => {
    if (cause !== undefined) return;
    cause = reason;
    controller.abort(new ToolStopped(reason, message));
  };
  const onCancel = () => {
    if (ending(context) === 'interrupted') stop('interrupted', 'The worker stops.');
    else stop('abort', 'The run was aborted.');
  };
  const timer = setTimeout(() => stop('timeout', 'The time of the tool is up.'), timeoutMs);
  context.cancellationSignal.addEventListener('abort', onCancel);
  if (context.cancellationSignal.aborted) onCancel();
  return {
    signal: controller.signal,
    cause: () => cause,
    dispose() {
      clearTimeout(timer);
      context.cancellationSignal.removeEventListener('abort', onCancel);
    },
  };
}

function toResult(
  settled: Settled,
  cause: StopCause | undefined,
  timeoutMs: number,
  redactor: Redactor,
): ToolResult {
  if (settled.kind === 'returned') return readOutput(settled.output, redactor);
  const fact = cause === 'timeout' ? `timed out after ${timeoutMs / 1000} s` : 'aborted';
  if (settled.kind === 'unsettled') return textResult(`${fact}, may still be running`, true);
  if (cause !== undefined) return textResult(fact, true);
  return textResult(plainText(redactedMessage(settled.error, redactor)), true);
}

/** The tool has done its work: output that cannot be read must not look like a call that never ran. */
function readOutput(output: unknown, redactor: Redactor): ToolResult {
  try {
    return toToolResult(output, redactor);
  } catch (error) {
    const reason = plainText(redactedMessage(error, redactor));
    return textResult(`The tool ran, but its result cannot be read: ${reason}`, true);
  }
}
