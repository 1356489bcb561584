// A worker that runs the real workflow with activities from a script: what a model streams, when it fails,
// what a tool prints. The heartbeats are the real ones.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { startHeartbeat } from '../../../src/activities/heartbeat.js';
import type { AgentActivities, CompleteChatResult } from '../../../src/protocol/activities.js';
import type { ToolSpec } from '../../../src/protocol/agent-definition.js';
import { FailureType } from '../../../src/protocol/failure-types.js';
import type { AssistantMessage } from '../../../src/protocol/messages.js';
import { zeroUsage } from '../../../src/protocol/messages.js';

/** One attempt of a model call: text streams piece by piece, then it ends one way or another. */
export interface ScriptedAttempt {
  readonly chunks?: readonly string[];
  /** Between two pieces. Default 0: all at once. */
  readonly everyMs?: number;
  /** Before the end. Default 0. */
  readonly holdMs?: number;
  /** A failure instead of an answer: `retry` is followed by another attempt. */
  readonly fails?: { readonly message: string; readonly retry: boolean };
  /** The answer's text, when it is not the pieces joined. */
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
}

export interface ScriptedCall {
  readonly name: string;
  readonly args: { readonly [name: string]: string };
}

export interface Script {
  /** By turn, then by attempt; the last of each list is repeated. */
  readonly turns: readonly (readonly ScriptedAttempt[])[];
  readonly tool?: {
    readonly chunks: readonly string[];
    readonly everyMs?: number;
    readonly approval?: 'allow' | 'ask';
  };
}

function toolSpec({ tool }: Script): ToolSpec {
  return {
    name: 'bash',
    description: 'Runs a command.',
    parameters: { type: 'object' },
    executionMode: 'parallel',
    effects: 'idempotent',
    timeoutMs: 60_000,
    approval: tool?.approval ?? 'allow',
  };
}

export function scriptedActivities(script: Script): AgentActivities {
  const unused = async () => {
    throw ApplicationFailure.nonRetryable('no hook is scripted');
  };
  return {
    resolveAgent: async ({ agent }) => ({
      kind: 'resolved',
      agent: {
        name: agent,
        model: 'default',
        models: { default: { model: 'scripted', provider: 'scripted' } },
        tools: [toolSpec(script)],
        hooks: [],
      },
    }),
    completeChat: ({ turn }) => completeChat(script, turn),
    reachWorkspace: async () => {},
    callTool: (call) => callTool(script, call),
    beforeToolCall: unused,
    afterToolCall: unused,
    prepareNextTurn: unused,
    shouldStopAfterTurn: unused,
  };
}

async function completeChat(script: Script, turn: number): Promise<CompleteChatResult> {
  const { attempt } = Context.current().info;
  const attempts = at(script.turns, turn - 1);
  const step = at(attempts, attempt - 1);
  let text = '';
  using heartbeat = startHeartbeat();
  heartbeat.show(() => ({
    kind: 'model',
    turn,
    attempt,
    text: { offset: 0, tail: text },
    thinking: { offset: 0, tail: '' },
    providerFailures: 0,
  }));
  const isAborted = await stream(step.chunks ?? [], step, (chunk) => {
    text += chunk;
  });
  if (!isAborted && step.fails !== undefined) {
    throw ApplicationFailure.create({
      message: step.fails.message,
      type: FailureType.ModelUnavailable,
      nonRetryable: !step.fails.retry,
    });
  }
  const calls = isAborted ? [] : (step.calls ?? []);
  const answer = step.text ?? text;
  return {
    message: assistant(isAborted ? text : answer, calls, turn, isAborted),
    prepared: calls.map(() => ({ kind: 'ready' })),
  };
}

async function callTool(
  { tool }: Script,
  { toolCallId, toolName }: { toolCallId: string; toolName: string },
) {
  const { attempt } = Context.current().info;
  let output = '';
  using heartbeat = startHeartbeat();
  heartbeat.show(() => ({
    kind: 'tool',
    toolCallId,
    toolName,
    attempt,
    output: { offset: 0, tail: output },
  }));
  await stream(tool?.chunks ?? [], tool ?? {}, (chunk) => {
    output += chunk;
  });
  return { content: [{ type: 'text' as const, text: output }], isError: false };
}

/** True: the activity was cancelled. */
async function stream(
  chunks: readonly string[],
  { everyMs = 0, holdMs = 0 }: { readonly everyMs?: number; readonly holdMs?: number },
  add: (chunk: string) => void,
): Promise<boolean> {
  const { cancellationSignal } = Context.current();
  try {
    for (const chunk of chunks) {
      add(chunk);
      if (everyMs > 0) await sleep(everyMs, undefined, { signal: cancellationSignal });
    }
    if (holdMs > 0) await sleep(holdMs, undefined, { signal: cancellationSignal });
    return false;
  } catch (error) {
    if (cancellationSignal.aborted) return true;
    throw error;
  }
}

function assistant(
  text: string,
  calls: readonly ScriptedCall[],
  turn: number,
  isAborted: boolean,
): Omit<AssistantMessage, 'timestamp'> {
  return {
    role: 'assistant',
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ name, args }, index) => ({
        type: 'toolCall' as const,
        id: `call-${turn}-${index}`,
        name,
        arguments: args,
      })),
    ],
    provider: 'scripted',
    model: 'scripted',
    usage: { ...zeroUsage, input: 1, output: 1, total: 2 },
    stopReason: isAborted ? 'aborted' : calls.length > 0 ? 'toolUse' : 'stop',
  };
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[Math.min(index, list.length - 1)];
  if (item === undefined) throw ApplicationFailure.nonRetryable('the script is empty');
  return item;
}

export interface ScriptedWorkerOptions {
  readonly address: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
  readonly script: Script;
}

let isQuiet = false;

/** A running worker; disposing of it stops it. */
export async function startScriptedWorker({
  address,
  taskQueue,
  bundlePath,
  script,
}: ScriptedWorkerOptions): Promise<AsyncDisposable> {
  if (!isQuiet) Runtime.install({ logger: new DefaultLogger('ERROR') });
  isQuiet = true;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { codePath: bundlePath },
    activities: scriptedActivities(script),
    maxHeartbeatThrottleInterval: 250,
    defaultHeartbeatThrottleInterval: 250,
    stickyQueueScheduleToStartTimeout: '1 second',
  });
  const running = worker.run();
  return {
    async [Symbol.asyncDispose]() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}
