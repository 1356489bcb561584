// A scripted world for the loop: model answers, tools, hooks, people and aborts as plain values and
// promises. It records everything and checks the invariants after every run.

import { expect } from 'vitest';
import type { ToolResult } from '../../src/protocol/activities.js';
import type { ToolSpec } from '../../src/protocol/agent-definition.js';
import type { AgentEvent, LoggedEvent } from '../../src/protocol/events.js';
import { defaultLimits } from '../../src/protocol/limits.js';
import { textOf } from '../../src/protocol/messages.js';
import type { InputMessage, Message, Untimed } from '../../src/protocol/messages.js';
import type { QueuedMessageSummary, QueueMode } from '../../src/protocol/session.js';
import { findViolations } from '../../src/testing/invariants.js';
import type { SentInput } from '../../src/testing/session-record.js';
import { transcriptViolations } from '../../src/testing/transcript-invariants.js';
import { runAgentLoop } from '../../src/workflows/loop.js';
import type {
  AfterToolCallOutcome,
  ApprovalOutcome,
  BeforeToolCallOutcome,
  ChatOutcome,
  ExecutableCall,
  LoopAgent,
  LoopEffects,
  LoopLimits,
  LoopSettings,
  PrepareNextTurnOutcome,
  ResolveOutcome,
  RunOutcome,
  RunStart,
  ShouldStopOutcome,
} from '../../src/workflows/loop-effects.js';
import { createQueue, enqueue, summaryOf, takeBatch } from '../../src/workflows/queues.js';
import { partialAnswer, toolSpec, userMessage } from './loop-values.js';

type Awaitable<T> = T | Promise<T>;

export interface FakeWorldOptions {
  /** One per model call; running out of them fails the test. */
  readonly replies: readonly (ChatOutcome | ((world: FakeWorld) => Awaitable<ChatOutcome>))[];
  readonly tools?: readonly ToolSpec[];
  readonly execute?: (call: ExecutableCall, world: FakeWorld) => Awaitable<ToolResult>;
  /** Default: `agent`, which has the tools and hooks given here. */
  readonly resolve?: (world: FakeWorld, agent: LoopAgent) => Awaitable<ResolveOutcome>;
  readonly beforeToolCall?: (
    call: ExecutableCall,
    world: FakeWorld,
  ) => Awaitable<BeforeToolCallOutcome>;
  readonly approve?: (call: ExecutableCall, world: FakeWorld) => Awaitable<ApprovalOutcome>;
  readonly afterToolCall?: (
    call: ExecutableCall,
    result: ToolResult,
    world: FakeWorld,
  ) => Awaitable<AfterToolCallOutcome>;
  readonly prepareNextTurn?: (turn: number, world: FakeWorld) => Awaitable<PrepareNextTurnOutcome>;
  readonly shouldStopAfterTurn?: (turn: number, world: FakeWorld) => Awaitable<ShouldStopOutcome>;
  /** What an aborted model call in flight comes to. Default: a partial answer. */
  readonly abortedChat?: () => ChatOutcome;
  /** What an aborted tool comes to. */
  readonly abortedTool?: (call: ExecutableCall) => ToolResult;
  /** Effects under way when an abort comes settle when and as their scripts say. Default: aborted, at once. */
  readonly settlesAfterAbort?: boolean;
  readonly exhaustedLimit?: LoopEffects['exhaustedLimit'];
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
  /** What the transcript holds before the run. */
  readonly transcript?: readonly Untimed[];
  /** The session closes when the run ends, so that what is queued will not be delivered. */
  readonly closes?: boolean;
  /** What happens when an effect begins, by its label, e.g. `callTool c1`: before it does anything. */
  readonly at?: { readonly [label: string]: (world: FakeWorld) => void };
}

export interface FakeWorld {
  readonly events: readonly LoggedEvent[];
  readonly messages: readonly Message[];
  /** Effects as they begin and events as they are logged, in order, e.g. `callTool c1`, `turn_end 1`. */
  readonly log: readonly string[];
  /** Calls as they were executed. */
  readonly executed: readonly ExecutableCall[];
  readonly results: ReadonlyMap<string, ToolResult>;
  readonly mostToolsAtOnce: () => number;
  readonly steer: (message: string | InputMessage, id?: string) => void;
  readonly followUp: (message: string | InputMessage, id?: string) => void;
  readonly abort: () => void;
  /** Texts of the messages that still wait. */
  readonly waiting: () => readonly string[];
  readonly queued: () => readonly QueuedMessageSummary[];
  /** Starts a run. It is settled, and its invariants checked, when the promise resolves. */
  readonly run: (start?: string | RunStart, settings?: FakeSettings) => Promise<RunOutcome>;
  /** The messages of the transcript in short, e.g. `user hello`, `result c1 error`. */
  readonly transcript: () => readonly string[];
  readonly eventsOf: <T extends AgentEvent['type']>(
    type: T,
  ) => readonly Extract<LoggedEvent, { readonly type: T }>[];
}

export interface FakeSettings extends Partial<LoopLimits> {
  readonly toolExecution?: LoopSettings['toolExecution'];
}

export function createFakeWorld(options: FakeWorldOptions): FakeWorld {
  const events: LoggedEvent[] = [];
  const carried = (options.transcript ?? []).length;
  const messages = (options.transcript ?? []).map(
    (message, index) => ({ ...message, timestamp: index }) as Message,
  );
  const log: string[] = [];
  const executed: ExecutableCall[] = [];
  const results = new Map<string, ToolResult>();
  const steering = createQueue(options.steeringMode);
  const followUps = createQueue(options.followUpMode);
  const inputs: SentInput[] = [];
  const faults: string[] = [];
  const statuses = new Map<string, string>();
  const replies = options.replies.values();
  let abortedAfter: number | undefined;
  let signalAbort = () => {};
  const abortSignal = new Promise<void>((resolve) => (signalAbort = resolve));
  let running = 0;
  let mostRunning = 0;
  let pollsSinceAnswer = 0;

  /** Runs one effect as an activity would: never synchronously, and to a bounded end once aborted. */
  async function begin<T>(label: string, aborted: () => T, action: () => Awaitable<T>): Promise<T> {
    if (abortedAfter !== undefined) faults.push(`${label} began after the abort`);
    log.push(label);
    await Promise.resolve();
    options.at?.[label]?.(world);
    if (options.settlesAfterAbort === true) return action();
    if (abortedAfter !== undefined) return aborted();
    return Promise.race([action(), abortSignal.then(aborted)]);
  }

  function poll(label: string, queue: typeof steering): readonly InputMessage[] {
    if (abortedAfter !== undefined) faults.push(`${label} after the abort`);
    log.push(label);
    const batch = takeBatch(queue);
    if (batch.length === 0) return batch;
    pollsSinceAnswer += 1;
    if (pollsSinceAnswer > 1) faults.push('two queue polls delivered before one model response');
    const expected = messages.length + batch.length;
    // A microtask later the loop has gone on to its next await.
    void Promise.resolve().then(() => {
      if (messages.length < expected) faults.push(`${label}: taken, but not appended at once`);
    });
    return batch;
  }

  const agent: LoopAgent = {
    tools: options.tools ?? [toolSpec('echo')],
    hasBeforeToolCall: options.beforeToolCall !== undefined,
    hasAfterToolCall: options.afterToolCall !== undefined,
    hasPrepareNextTurn: options.prepareNextTurn !== undefined,
    hasShouldStopAfterTurn: options.shouldStopAfterTurn !== undefined,
  };
  const effects: LoopEffects = {
    isAborted: () => abortedAfter !== undefined,
    append: (message) => {
      messages.push({ ...message, timestamp: messages.length } as Message);
      return messages.length - 1;
    },
    transcriptLength: () => messages.length,
    emit: (event, result) => {
      log.push(describeEvent(event));
      events.push({ ...event, seq: events.length + 1, at: events.length });
      if (event.type === 'tool_execution_end') {
        if (result === undefined) faults.push(`${event.toolCallId} ended without its result`);
        else results.set(event.toolCallId, result);
      }
    },
    resolveAgent: () =>
      begin<ResolveOutcome>(
        'resolveAgent',
        () => ({ kind: 'aborted' }),
        () => options.resolve?.(world, agent) ?? { kind: 'resolved', agent },
      ),
    completeChat: (turn) => {
      pollsSinceAnswer = 0;
      // What a provider would refuse: a call without its result, a message between them.
      faults.push(...transcriptViolations(messages, carried));
      if (running > 0) faults.push('a model call while a tool runs');
      return begin<ChatOutcome>(
        `completeChat ${turn}`,
        options.abortedChat ?? (() => ({ kind: 'message', message: partialAnswer, prepared: [] })),
        () => {
          const reply = replies.next().value;
          if (reply === undefined) throw new Error(`no reply is scripted for turn ${turn}`);
          return typeof reply === 'function' ? reply(world) : reply;
        },
      );
    },
    takeSteering: () => poll('takeSteering', steering),
    takeFollowUps: () => poll('takeFollowUps', followUps),
    hasQueuedMessages: () => steering.entries.length + followUps.entries.length > 0,
    beforeToolCall: (call) =>
      begin<BeforeToolCallOutcome>(
        `beforeToolCall ${call.call.id}`,
        () => ({ kind: 'aborted' }),
        () => options.beforeToolCall?.(call, world) ?? { kind: 'proceed' },
      ),
    awaitApprovals: (calls) =>
      begin<readonly ApprovalOutcome[]>(
        `awaitApprovals ${calls.map(({ call }) => call.id).join()}`,
        () => calls.map(() => ({ kind: 'aborted' })),
        () =>
          Promise.all(
            calls.map(
              async (call) => (await options.approve?.(call, world)) ?? { kind: 'approved' },
            ),
          ),
      ),
    callTool: async (call) => {
      if (executed.some((other) => other.call.id === call.call.id)) {
        faults.push(`${call.call.id} was executed twice`);
      }
      executed.push(call);
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      const result = await begin<ToolResult>(
        `callTool ${call.call.id}`,
        () =>
          options.abortedTool?.(call) ?? {
            content: [{ type: 'text', text: 'aborted while running' }],
            isError: true,
          },
        () =>
          options.execute?.(call, world) ?? {
            content: [{ type: 'text', text: `ran ${call.call.id}` }],
            isError: false,
          },
      );
      running -= 1;
      return result;
    },
    afterToolCall: (call, result) =>
      begin<AfterToolCallOutcome>(
        `afterToolCall ${call.call.id}`,
        () => ({ kind: 'aborted' }),
        () => options.afterToolCall?.(call, result, world) ?? { kind: 'replaced', fields: {} },
      ),
    prepareNextTurn: (turn) =>
      begin<PrepareNextTurnOutcome>(
        `prepareNextTurn ${turn}`,
        () => ({ kind: 'aborted' }),
        () => options.prepareNextTurn?.(turn, world) ?? { kind: 'view', view: {} },
      ),
    shouldStopAfterTurn: (turn) =>
      begin<ShouldStopOutcome>(
        `shouldStopAfterTurn ${turn}`,
        () => ({ kind: 'aborted' }),
        () => options.shouldStopAfterTurn?.(turn, world) ?? { kind: 'answer', stop: false },
      ),
    exhaustedLimit: () => options.exhaustedLimit?.(),
    toolCallStatus: (call, status) => {
      statuses.set(call.id, status);
      log.push(`${status} ${call.id}`);
    },
    undelivered: () => (options.closes === true ? world.queued() : undefined),
  };

  const send = (queue: typeof steering, kind: 'steer' | 'followUp') => {
    return (message: string | InputMessage, id?: string) => {
      const input = { ...(id !== undefined && { id }), message };
      inputs.push(input);
      enqueue(queue, {
        ...input,
        kind,
        message: typeof message === 'string' ? userMessage(message) : message,
      });
    };
  };

  const world: FakeWorld = {
    events,
    messages,
    log,
    executed,
    results,
    mostToolsAtOnce: () => mostRunning,
    steer: send(steering, 'steer'),
    followUp: send(followUps, 'followUp'),
    abort: () => {
      abortedAfter ??= events.length;
      signalAbort();
    },
    queued: () => [...steering.entries, ...followUps.entries].map((entry) => summaryOf(entry)),
    waiting: () => world.queued().map(({ preview }) => preview),
    run: async (start = 'hello', { toolExecution = 'parallel', ...limits } = {}) => {
      const runStart: RunStart =
        typeof start === 'string' ? { kind: 'prompt', messages: [userMessage(start)] } : start;
      const prompts = runStart.messages.map((message) => ({ message }));
      // A batch that stands in for the prompt was recorded when it was queued.
      if (runStart.kind === 'prompt') inputs.push(...prompts);
      const outcome = await runAgentLoop(
        runStart,
        { toolExecution, limits: { maxTurns: defaultLimits.maxTurns, ...limits } },
        effects,
      );
      for (const [id, status] of statuses) {
        if (status !== 'done') faults.push(`${id} is still ${status} after the run`);
      }
      if (running > 0) faults.push('a tool runs after the run');
      const violations = findViolations({
        events,
        messages,
        carried,
        inputs,
        queued: world.queued(),
        executed: executed.map(({ call }) => call.id),
        ...(abortedAfter !== undefined && { abortedAfter: [abortedAfter] }),
      });
      expect([...faults, ...violations]).toEqual([]);
      return outcome;
    },
    transcript: () => messages.map((message) => describeMessage(message)),
    eventsOf: <T extends AgentEvent['type']>(type: T) =>
      events.filter((event): event is Extract<LoggedEvent, { type: T }> => event.type === type),
  };
  return world;
}

function describeEvent(event: AgentEvent): string {
  if ('toolCallId' in event) return `${event.type} ${event.toolCallId}`;
  if ('turn' in event) return `${event.type} ${event.turn}`;
  if (event.type === 'message_start' || event.type === 'message_end') {
    return `${event.type} ${event.message}`;
  }
  return event.type;
}

function describeMessage(message: Message): string {
  switch (message.role) {
    case 'assistant':
      return `assistant ${message.stopReason}`;
    case 'toolResult':
      return `result ${message.toolCallId}${message.isError ? ' error' : ''}`;
    case 'user':
    case 'custom':
      return `${message.role} ${textOf(message.content)}`;
    case 'compactionSummary':
    case 'branchSummary':
      return `${message.role} ${message.text}`;
  }
}
