// Random scripts for the loop: what the model answers, what tools, hooks and approvers do, what people send
// and when they abort. Plain data, so that a failure shrinks to the few entries that matter.

import fc from 'fast-check';
import type { AfterToolCallResult, ToolResult } from '../../src/protocol/activities.js';
import type { JsonObject } from '../../src/protocol/json.js';
import type { StopReason, Usage } from '../../src/protocol/messages.js';
import type { QueueMode } from '../../src/protocol/session.js';
import type {
  ApprovalOutcome,
  BeforeToolCallOutcome,
  PrepareNextTurnOutcome,
  ShouldStopOutcome,
} from '../../src/workflows/loop-effects.js';

/** `slow` is sequential, `gated` asks for approval, `denied` never runs, the agent has no `ghost`. */
export const toolNames = ['free', 'other', 'slow', 'gated', 'denied', 'ghost'] as const;

export interface CallScript {
  readonly tool: (typeof toolNames)[number];
  readonly args: JsonObject;
  readonly prepared:
    | { readonly kind: 'as sent' }
    | { readonly kind: 'mended'; readonly args: JsonObject }
    | { readonly kind: 'settled'; readonly text: string };
  readonly before: BeforeToolCallOutcome;
  readonly approval: ApprovalOutcome;
  readonly result: Partial<ToolResult> & { readonly isError: boolean };
  readonly after: { readonly threw: string } | AfterToolCallResult;
  /** Its effects end by themselves although the run was aborted. */
  readonly outlivesAbort: boolean;
}

export interface ReplyScript {
  readonly kind: 'answer' | 'failed';
  readonly thinking: boolean;
  readonly text: boolean;
  readonly calls: readonly CallScript[];
  readonly stopReason: StopReason;
  readonly tokens: number;
  /** A model that is told that its answer was cut off may send the same again. */
  readonly repeats: number;
  /** What an abort makes of it while it is under way. */
  readonly whenAborted: 'nothing' | 'partial' | 'whole';
}

/** What people do between two effects; `with next` happens in the same moment in which an effect settles. */
export type Action =
  | 'wait'
  | 'steer'
  | 'followUp'
  | 'abort'
  | 'abort with next'
  | 'settle two at once';

export interface TurnScript {
  readonly prepare: PrepareNextTurnOutcome;
  readonly stop: ShouldStopOutcome;
}

export interface RunScript {
  readonly start: 'prompt' | 'continue';
  readonly prompts: number;
  readonly resolves: boolean;
  readonly actions: readonly Action[];
}

export interface LoopScript {
  /** What an earlier session left in the transcript. */
  readonly tail: 'nothing' | 'user' | 'answer' | 'failed answer' | 'result' | 'custom';
  /** Messages that were queued while the session was idle. */
  readonly queued: { readonly steering: number; readonly followUps: number };
  readonly runs: readonly RunScript[];
  readonly replies: readonly ReplyScript[];
  readonly turns: readonly TurnScript[];
  readonly has: {
    readonly before: boolean;
    readonly after: boolean;
    readonly prepare: boolean;
    readonly stop: boolean;
  };
  readonly toolExecution: 'parallel' | 'sequential';
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly maxTurns: number;
  readonly maxTotalTokens: number | undefined;
  readonly exhaustedAt: number;
  readonly closes: boolean;
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** The first of the values mostly; shrinks to it. */
function mostly<T>(usual: T, weight: number, ...others: readonly fc.Arbitrary<T>[]) {
  return fc.oneof(
    { arbitrary: fc.constant(usual), weight },
    ...others.map((arbitrary) => ({ arbitrary, weight: 1 })),
  );
}

const args: fc.Arbitrary<JsonObject> = fc.record({ n: fc.nat(9) });

/** Few values, so that a budget is often met exactly. */
const tokens = fc.nat(5).map((tens) => 10 * tens);

const usage: fc.Arbitrary<Usage> = tokens.map((total) => ({
  input: total,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  total,
}));

/** Without the fields that are undefined. */
function compact<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

const text = (value: string) => [{ type: 'text', text: value } as const];

const result: fc.Arbitrary<CallScript['result']> = fc
  .record({
    content: mostly<ToolResult['content'] | undefined>(
      text('done'),
      6,
      fc.constant([]),
      fc.constant(undefined),
      fc.constant([...text('seen'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }]),
    ),
    isError: mostly(false, 4, fc.constant(true)),
    terminate: fc.constantFrom(undefined, true, true, false),
    usage: mostly<Usage | undefined>(undefined, 4, usage),
    details: mostly<JsonObject | undefined>(undefined, 4, args),
  })
  .map((fields) => compact(fields) as CallScript['result']);

const after: fc.Arbitrary<CallScript['after']> = mostly<CallScript['after']>(
  {},
  2,
  fc.constant({ threw: 'after broke' }),
  fc
    .record({
      content: maybe(fc.constant(text('reviewed'))),
      isError: maybe(fc.boolean()),
      terminate: maybe(fc.boolean()),
      usage: maybe(usage),
      details: maybe(args),
    })
    .map((fields) => compact(fields) as AfterToolCallResult),
);

const call: fc.Arbitrary<CallScript> = fc.record({
  tool: mostly<CallScript['tool']>(
    'free',
    12,
    ...[...toolNames, 'gated' as const].map((name) => fc.constant(name)),
  ),
  args,
  prepared: mostly<CallScript['prepared']>(
    { kind: 'as sent' },
    6,
    args.map((mended) => ({ kind: 'mended' as const, args: { mended } })),
    fc.constant({ kind: 'settled' as const, text: 'The arguments are invalid.' }),
  ),
  before: mostly<BeforeToolCallOutcome>(
    { kind: 'proceed' },
    4,
    args.map((replaced) => ({ kind: 'proceed' as const, arguments: { replaced } })),
    fc.constantFrom<BeforeToolCallOutcome>(
      { kind: 'blocked' },
      { kind: 'blocked', reason: 'No such thing on a Friday.' },
      { kind: 'threw', errorMessage: 'before broke' },
    ),
  ),
  approval: mostly<ApprovalOutcome>(
    { kind: 'approved' },
    3,
    fc.constantFrom<ApprovalOutcome>({ kind: 'denied' }, { kind: 'denied', reason: 'too risky' }),
  ),
  result,
  after,
  outlivesAbort: mostly(false, 2, fc.constant(true)),
});

const reply: fc.Arbitrary<ReplyScript> = fc
  .record({
    kind: mostly<ReplyScript['kind']>('answer', 30, fc.constant('failed')),
    thinking: mostly(false, 2, fc.constant(true)),
    text: fc.boolean(),
    calls: fc.oneof(
      { arbitrary: fc.constant([]), weight: 1 },
      { arbitrary: fc.array(call, { minLength: 1, maxLength: 5, size: 'max' }), weight: 4 },
    ),
    stopReason: mostly<StopReason>(
      'toolUse',
      12,
      fc.constantFrom('stop', 'length'),
      fc.constantFrom('stop', 'length', 'error', 'aborted'),
    ),
    tokens,
    repeats: mostly(1, 6, fc.integer({ min: 2, max: 6 })),
    whenAborted: fc.constantFrom<ReplyScript['whenAborted']>('nothing', 'partial', 'whole'),
  })
  .map((script) => (script.repeats === 1 ? script : { ...script, stopReason: 'length' }));

const action = mostly<Action>(
  'wait',
  20,
  ...Array<fc.Arbitrary<Action>>(4).fill(
    fc.constantFrom<Action>('steer', 'followUp', 'settle two at once'),
  ),
  fc.constantFrom<Action>('abort', 'abort with next'),
);

const run: fc.Arbitrary<RunScript> = fc.record({
  start: mostly<RunScript['start']>('prompt', 2, fc.constant('continue')),
  prompts: fc.integer({ min: 1, max: 2 }),
  resolves: mostly(true, 30, fc.constant(false)),
  actions: fc.array(action, { maxLength: 40, size: 'max' }),
});

const turn: fc.Arbitrary<TurnScript> = fc.record({
  prepare: mostly<PrepareNextTurnOutcome>(
    { kind: 'view', view: {} },
    20,
    fc.constant({ kind: 'view', view: { systemPrompt: 'Be brief.' } }),
    fc.constant({ kind: 'threw', errorMessage: 'broke' }),
  ),
  stop: mostly<ShouldStopOutcome>(
    { kind: 'answer', stop: false },
    20,
    fc.constant({ kind: 'answer', stop: true }),
    fc.constant({ kind: 'threw', errorMessage: 'broke' }),
  ),
});

export const loopScript: fc.Arbitrary<LoopScript> = fc.record({
  tail: mostly<LoopScript['tail']>(
    'nothing',
    3,
    fc.constantFrom<LoopScript['tail']>('user', 'answer', 'failed answer', 'result', 'custom'),
  ),
  queued: fc.record({
    steering: mostly(0, 2, fc.integer({ min: 1, max: 3 })),
    followUps: mostly(0, 2, fc.integer({ min: 1, max: 3 })),
  }),
  runs: fc.array(run, { minLength: 1, maxLength: 3, size: 'max' }),
  replies: fc.array(reply, { maxLength: 10, size: 'max' }),
  turns: fc.array(turn, { maxLength: 10, size: 'max' }),
  has: fc.record({
    before: fc.boolean(),
    after: fc.boolean(),
    prepare: fc.boolean(),
    stop: fc.boolean(),
  }),
  toolExecution: mostly<LoopScript['toolExecution']>('parallel', 3, fc.constant('sequential')),
  steeringMode: fc.constantFrom<QueueMode>('one-at-a-time', 'all'),
  followUpMode: fc.constantFrom<QueueMode>('one-at-a-time', 'all'),
  maxTurns: mostly(20, 2, fc.integer({ min: 1, max: 6 })),
  maxTotalTokens: mostly<number | undefined>(
    undefined,
    5,
    fc.integer({ min: 1, max: 30 }).map((tens) => 10 * tens),
  ),
  exhaustedAt: mostly(1_000, 9, fc.integer({ min: 1, max: 40 })),
  closes: fc.boolean(),
});
