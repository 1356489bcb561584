// Plays a script to the real loop, one moment after the other: a scheduler of fast-check decides which effect
// settles next and when people act. Records what happened, for the model to be told the same.

import type { Scheduler } from 'fast-check';
import type { PreparedCall, ToolResult } from '../../src/protocol/activities.js';
import type { ToolSpec } from '../../src/protocol/agent-definition.js';
import type { AgentEvent, LoggedEvent } from '../../src/protocol/events.js';
import { zeroUsage } from '../../src/protocol/messages.js';
import type { Message, Untimed } from '../../src/protocol/messages.js';
import { withoutTimestamp } from '../../src/protocol/transcript-digest.js';
import { planContinue } from '../../src/workflows/continuation.js';
import type {
  ChatOutcome,
  PrepareNextTurnOutcome,
  ResolveOutcome,
  RunOutcome,
  RunStart,
  ShouldStopOutcome,
} from '../../src/workflows/loop-effects.js';
import { createQueue, enqueue } from '../../src/workflows/queues.js';
import { createFakeWorld } from '../support/fake-effects.js';
import type { FakeWorld } from '../support/fake-effects.js';
import {
  assistantMessage,
  deferred,
  partialAnswer,
  toolCall,
  toolSpec,
  userMessage,
} from '../support/loop-values.js';
import type { ModelSetting, Step } from './loop-model.js';
import type { CallScript, LoopScript, ReplyScript, RunScript } from './loop-script.js';

/** One run as it really went. */
export interface PlayedRun {
  readonly setting: ModelSetting;
  /** Each with what the loop waited for before it. */
  readonly steps: readonly (Step & { readonly waitedFor: readonly string[] })[];
  readonly outcome: RunOutcome | { readonly kind: 'rejected' };
  readonly waitsFor: readonly string[];
  readonly transcript: readonly Untimed[];
  readonly events: readonly AgentEvent[];
  readonly queued: readonly string[];
  readonly executed: readonly { readonly id: string; readonly args: object }[];
}

const tools: readonly ToolSpec[] = [
  toolSpec('free'),
  toolSpec('other'),
  toolSpec('slow', { executionMode: 'sequential' }),
  toolSpec('gated', { approval: 'ask' }),
  toolSpec('denied', { approval: 'deny' }),
];

const tails: { readonly [tail in LoopScript['tail']]: readonly Untimed[] } = {
  nothing: [],
  user: [userMessage('earlier') as Untimed],
  answer: [userMessage('earlier') as Untimed, assistantMessage([{ type: 'text', text: 'so' }])],
  'failed answer': [userMessage('earlier') as Untimed, assistantMessage([], 'error')],
  result: [
    userMessage('earlier') as Untimed,
    assistantMessage([toolCall('early')], 'toolUse'),
    { role: 'toolResult', toolCallId: 'early', toolName: 'free', content: [], isError: false },
  ],
  custom: [{ role: 'custom', customType: 'note', content: 'noted' }],
};

/** What goes from one run to the next. */
interface Carried {
  transcript: readonly Untimed[];
  steering: readonly string[];
  followUps: readonly string[];
  replies: Iterator<ReplyScript>;
  turns: Iterator<LoopScript['turns'][number]>;
  sent: number;
  asked: number;
}

/** Plays the script's runs, one after the other in one session. */
export async function playScript(
  script: LoopScript,
  scheduler: Scheduler,
): Promise<readonly PlayedRun[]> {
  const carried: Carried = {
    transcript: tails[script.tail],
    steering: textsOf('steer 0', script.queued.steering),
    followUps: textsOf('followUp 0', script.queued.followUps),
    replies: script.replies
      .flatMap((reply) => Array<ReplyScript>(reply.repeats).fill(reply))
      .values(),
    turns: script.turns.values(),
    sent: 0,
    asked: 0,
  };
  const played: PlayedRun[] = [];
  for (const [index, run] of script.runs.entries()) {
    played.push(await playRun(run, script, carried, scheduler, index));
  }
  return played;
}

function textsOf(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}.${index + 1}`);
}

async function playRun(
  run: RunScript,
  script: LoopScript,
  carried: Carried,
  scheduler: Scheduler,
  index: number,
): Promise<PlayedRun> {
  const prompt = Array.from({ length: run.prompts }, (_, n) =>
    userMessage(`prompt ${index + 1}.${n + 1}`),
  );
  const setting: ModelSetting = {
    ...script,
    start: run.start,
    prompt,
    transcript: carried.transcript,
    steering: carried.steering,
    followUps: carried.followUps,
    tools,
    hasBeforeToolCall: script.has.before,
    hasAfterToolCall: script.has.after,
    hasPrepareNextTurn: script.has.prepare,
    hasShouldStopAfterTurn: script.has.stop,
  };
  const steering = queueOf('steer', carried.steering, script.steeringMode);
  const followUp = queueOf('followUp', carried.followUps, script.followUpMode);
  const plan =
    run.start === 'prompt'
      ? ({ kind: 'run', start: { kind: 'prompt', messages: prompt } } as const)
      : planContinue(carried.transcript as readonly Message[], { steering, followUp });
  const waiting = {
    steering: steering.entries.map(({ message }) => textOf(message)),
    followUps: followUp.entries.map(({ message }) => textOf(message)),
  };
  const nothing = { setting, steps: [], waitsFor: [], events: [], executed: [] };
  if (plan.kind === 'rejected') {
    const queued = [...waiting.steering, ...waiting.followUps];
    return { ...nothing, outcome: { kind: 'rejected' }, transcript: carried.transcript, queued };
  }
  const played = await driveRun(plan.start, run, script, { ...carried, ...waiting }, scheduler);
  Object.assign(carried, played.carried);
  return { ...nothing, ...played.run };
}

function queueOf(
  kind: 'steer' | 'followUp',
  texts: readonly string[],
  mode: 'all' | 'one-at-a-time',
) {
  const queue = createQueue(mode);
  for (const text of texts) enqueue(queue, { kind, message: userMessage(text) });
  return queue;
}

function textOf({ content }: { readonly content: unknown }): string {
  return (content as readonly { readonly text: string }[])[0]?.text ?? '';
}

async function driveRun(
  start: RunStart,
  run: RunScript,
  script: LoopScript,
  carried: Carried,
  scheduler: Scheduler,
) {
  let { sent } = carried;
  let asked = carried.asked;
  let aborted = false;
  let nextAborts = false;
  let nextIsTwo = false;
  const pending = new Map<string, () => unknown>();
  const steps: (Step & { waitedFor: readonly string[] })[] = [];
  let step: {
    steer?: string;
    followUp?: string;
    abort?: boolean;
    settled: Step['settled'][number][];
  };
  const scripts = new Map<string, CallScript>();

  const settle = (label: string) => {
    const effect = pending.get(label);
    if (effect === undefined) return;
    pending.delete(label);
    step.settled.push({ label, value: effect() });
  };
  /** An effect under way: the scheduler says when it settles. `whenAborted`: what an abort makes of it. */
  const effect = <T>(label: string, value: () => T, whenAborted: () => T): Promise<T> => {
    const { promise, resolve } = deferred<T>();
    pending.set(label, () => {
      const outcome = aborted ? whenAborted() : value();
      resolve(outcome);
      return outcome;
    });
    void scheduler.schedule(Promise.resolve(), label).then(() => {
      if (!pending.has(label)) return;
      settle(label);
      // Of one kind: of two kinds, the one with fewer promises behind it would seem to be the first.
      const kind = label.slice(0, label.indexOf(' '));
      const other = [...pending.keys()].find((name) => name.startsWith(kind));
      if (nextIsTwo && other !== undefined) settle(other);
      nextIsTwo = false;
      if (nextAborts) abort();
      nextAborts = false;
    });
    return promise;
  };
  const abort = () => {
    aborted = true;
    step.abort = true;
    world.abort();
  };
  const act = (action: RunScript['actions'][number]) => {
    if (action === 'steer' || action === 'followUp') {
      sent += 1;
      step[action] = `${action} ${sent}`;
      world[action](`${action} ${sent}`);
    }
    if (action === 'abort') abort();
    if (action === 'abort with next') nextAborts = true;
    if (action === 'settle two at once') nextIsTwo = true;
  };

  const callEffect = <T extends { readonly kind: string }>(
    label: string,
    id: string,
    value: (call: CallScript) => T,
  ): Promise<T | { readonly kind: 'aborted' }> => {
    const call = scripts.get(id) as CallScript;
    return effect<T | { readonly kind: 'aborted' }>(
      `${label} ${id}`,
      () => value(call),
      () => (call.outlivesAbort ? value(call) : { kind: 'aborted' }),
    );
  };
  const { has } = script;
  const world: FakeWorld = createFakeWorld({
    ...script,
    settlesAfterAbort: true,
    tools,
    transcript: carried.transcript,
    exhaustedLimit: () =>
      world.messages.length >= script.exhaustedAt
        ? { limit: 'historyBytes', value: script.exhaustedAt }
        : undefined,
    resolve: (_, agent) =>
      effect<ResolveOutcome>(
        'resolveAgent',
        () =>
          run.resolves
            ? { kind: 'resolved', agent }
            : { kind: 'failed', errorMessage: 'There is no agent of that name.' },
        () => ({ kind: 'aborted' }),
      ),
    replies: Array.from({ length: 200 }, (_, turn) => () => {
      asked += 1;
      const reply = (carried.replies.next().value ?? lastReply) as ReplyScript;
      const answer = toAnswer(reply, asked, scripts);
      return effect(
        `completeChat ${turn + 1}`,
        () => answer,
        () => (reply.whenAborted === 'whole' ? answer : toAborted(reply, asked)),
      );
    }),
    ...(has.before && {
      beforeToolCall: ({ call: { id } }) =>
        callEffect('beforeToolCall', id, ({ before }) => before),
    }),
    approve: ({ call: { id } }) => callEffect('approve', id, ({ approval }) => approval),
    execute: ({ call: { id } }) => {
      const call = scripts.get(id) as CallScript;
      return effect<ToolResult>(
        `callTool ${id}`,
        () => call.result as ToolResult,
        () =>
          call.outlivesAbort
            ? (call.result as ToolResult)
            : { content: [{ type: 'text', text: 'Aborted while it ran.' }], isError: true },
      );
    },
    ...(has.after && {
      afterToolCall: ({ call: { id } }) =>
        callEffect('afterToolCall', id, ({ after }) =>
          'threw' in after
            ? ({ kind: 'threw', errorMessage: after.threw } as const)
            : ({ kind: 'replaced', fields: after } as const),
        ),
    }),
    ...(has.prepare && {
      prepareNextTurn: (turn: number) =>
        effect<PrepareNextTurnOutcome>(
          `prepareNextTurn ${turn}`,
          () => nextTurn(carried).prepare,
          () => ({ kind: 'aborted' }),
        ),
    }),
    ...(has.stop && {
      shouldStopAfterTurn: (turn: number) =>
        effect<ShouldStopOutcome>(
          `shouldStopAfterTurn ${turn}`,
          () => nextTurn(carried).stop,
          () => ({ kind: 'aborted' }),
        ),
    }),
  });
  for (const text of carried.steering) world.steer(text);
  for (const text of carried.followUps) world.followUp(text);

  let outcome: RunOutcome | undefined;
  let fault: unknown;
  const { maxTurns, maxTotalTokens, toolExecution } = script;
  const limits = { maxTurns, ...(maxTotalTokens === undefined ? {} : { maxTotalTokens }) };
  const ended = world
    .run(start, { toolExecution, ...limits })
    .then((value) => (outcome = value))
    .catch((error: unknown) => (fault = error));
  let over = false;
  scheduler.scheduleSequence(
    run.actions.map((action) => ({
      label: action,
      builder: async () => {
        if (!over) act(action);
      },
    })),
  );
  await quiet();
  while (outcome === undefined && fault === undefined) {
    if (scheduler.count() === 0) throw new Error('the loop neither ends nor waits for anything');
    step = { settled: [] };
    const waitedFor = [...pending.keys()];
    await scheduler.waitNext(1);
    await quiet();
    steps.push({ ...step, waitedFor });
  }
  over = true;
  await ended;
  // People have no more to say to this run.
  while (scheduler.count() > 0) await scheduler.waitNext(1);
  if (fault !== undefined) throw fault;
  const transcript = world.messages.map((message) => withoutTimestamp(message));
  const queued = world.queued();
  const left = (kind: string) =>
    queued.filter((entry) => entry.kind === kind).map(({ preview }) => preview);
  return {
    carried: {
      transcript,
      steering: left('steer'),
      followUps: left('followUp'),
      sent,
      asked,
    } satisfies Partial<Carried>,
    run: {
      steps,
      outcome: outcome as unknown as RunOutcome,
      waitsFor: [...pending.keys()],
      transcript,
      events: world.events.map((event) => unlogged(event)),
      queued: world.waiting(),
      executed: world.executed.map(({ call, args }) => ({ id: call.id, args })),
    },
  };
}

function unlogged(logged: LoggedEvent): AgentEvent {
  const { seq: _, at: __, ...event } = logged;
  return event;
}

/** Lets the loop go on until it waits for an effect again. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const lastReply: ReplyScript = {
  kind: 'answer',
  thinking: false,
  text: true,
  calls: [],
  stopReason: 'stop',
  tokens: 1,
  repeats: 1,
  whenAborted: 'partial',
};

function toAnswer(
  reply: ReplyScript,
  asked: number,
  scripts: Map<string, CallScript>,
): ChatOutcome {
  const usage = { ...zeroUsage, input: reply.tokens, total: reply.tokens };
  if (reply.kind === 'failed') {
    const errorMessage = `The provider answered HTTP 500, the ${asked}th time.`;
    return { kind: 'failed', message: assistantMessage([], 'error', { errorMessage, usage }) };
  }
  const calls = reply.calls.map((call, index) => {
    const id = `call ${asked}.${index + 1}`;
    scripts.set(id, call);
    return toolCall(id, call.tool, call.args);
  });
  const stopReason =
    calls.length === 0 && reply.stopReason === 'toolUse' ? 'stop' : reply.stopReason;
  const content = [
    ...(reply.thinking ? [{ type: 'thinking', thinking: 'hm' } as const] : []),
    ...(reply.text ? [{ type: 'text', text: `answer ${asked}` } as const] : []),
    ...calls,
  ];
  const prepared = reply.calls.map(({ prepared: given }): PreparedCall => {
    if (given.kind === 'settled') return given;
    return { kind: 'ready', ...(given.kind === 'mended' && { arguments: given.args }) };
  });
  return { kind: 'message', message: assistantMessage(content, stopReason, { usage }), prepared };
}

function toAborted(reply: ReplyScript, asked: number): ChatOutcome {
  if (reply.whenAborted === 'nothing') return { kind: 'aborted' };
  const calls = reply.calls.map(({ tool }, index) => toolCall(`half ${asked}.${index + 1}`, tool));
  const message = { ...partialAnswer, content: [...partialAnswer.content, ...calls] };
  return { kind: 'message', message, prepared: [] };
}

const quietTurn: LoopScript['turns'][number] = {
  prepare: { kind: 'view', view: {} },
  stop: { kind: 'answer', stop: false },
};

function nextTurn(carried: Carried): LoopScript['turns'][number] {
  return (carried.turns.next().value as LoopScript['turns'][number] | undefined) ?? quietTurn;
}
