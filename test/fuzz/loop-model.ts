// What an agent run does, said as plainly as possible: a synchronous interpreter of the loop's specification.
// It knows nothing of promises, activities or the loop's code; it is told what the world did, step by step,
// and says what the loop must then wait for, and what must stand in the transcript and in the event log.

import { expect } from 'vitest';
import type { ToolResult } from '../../src/protocol/activities.js';
import type { ToolSpec } from '../../src/protocol/agent-definition.js';
import type { AgentEvent } from '../../src/protocol/events.js';
import type { JsonObject } from '../../src/protocol/json.js';
import type {
  AssistantMessage,
  InputMessage,
  StopReason,
  ToolCall,
  Untimed,
} from '../../src/protocol/messages.js';
import type { QueueMode } from '../../src/protocol/session.js';
import type {
  AfterToolCallOutcome,
  ApprovalOutcome,
  BeforeToolCallOutcome,
  ChatOutcome,
  PrepareNextTurnOutcome,
  ResolveOutcome,
  RunOutcome,
  ShouldStopOutcome,
} from '../../src/workflows/loop-effects.js';

/** What happens between two moments in which the loop waits: people first, then what has settled. */
export interface Step {
  readonly steer?: string;
  readonly followUp?: string;
  readonly abort?: boolean;
  /** Effects by their label, e.g. `callTool c1`, and what they came to, in order. */
  readonly settled: readonly Settled[];
}

export interface Settled {
  readonly label: string;
  readonly value: unknown;
}

export interface ModelSetting {
  readonly start: 'prompt' | 'continue';
  readonly prompt: readonly InputMessage[];
  readonly transcript: readonly Untimed[];
  readonly steering: readonly string[];
  readonly followUps: readonly string[];
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly toolExecution: 'parallel' | 'sequential';
  readonly maxTurns: number;
  readonly maxTotalTokens: number | undefined;
  /** Messages in the transcript at which the server's limit is reached. */
  readonly exhaustedAt: number;
  readonly tools: readonly ToolSpec[];
  readonly hasBeforeToolCall: boolean;
  readonly hasAfterToolCall: boolean;
  readonly hasPrepareNextTurn: boolean;
  readonly hasShouldStopAfterTurn: boolean;
  /** The session closes with the run. */
  readonly closes: boolean;
}

/** Waits for one of the labels; goes on with the one that settled. */
type Waiting<T> = Generator<readonly string[], T, Settled>;

type Rejected = { readonly kind: 'rejected' };

/** A prepared call: ready to be executed, or answered already. */
interface Prepared {
  readonly call: ToolCall;
  readonly args: JsonObject;
  readonly result?: ToolResult;
  readonly asks: boolean;
}

const abortedResult = errorSaying(/abort.*not executed/is);
const maxCutOffAnswersInARow = 5;

export class LoopModel {
  readonly transcript: Untimed[];
  readonly events: AgentEvent[] = [];
  readonly steering: string[];
  readonly followUps: string[];
  /** Calls as they were handed to their tools. */
  readonly executed: { readonly id: string; readonly args: JsonObject }[] = [];
  outcome: RunOutcome | Rejected | undefined;
  /** What the loop waits for now. */
  waitsFor: readonly string[] = [];

  readonly #setting: ModelSetting;
  readonly #run: Waiting<RunOutcome | Rejected>;
  #aborted = false;
  #turn = 0;
  #tokens = 0;
  #cutOffInARow = 0;
  #lastStopReason: StopReason = 'stop';

  constructor(setting: ModelSetting) {
    this.#setting = setting;
    this.transcript = [...setting.transcript];
    this.steering = [...setting.steering];
    this.followUps = [...setting.followUps];
    this.#run = this.#begin();
    this.#proceed(this.#run.next());
  }

  take({ steer, followUp, abort, settled }: Step): void {
    if (steer !== undefined) this.steering.push(steer);
    if (followUp !== undefined) this.followUps.push(followUp);
    if (abort === true) this.#aborted = true;
    for (const each of settled) {
      if (!this.waitsFor.includes(each.label)) throw new Error(`nothing waits for ${each.label}`);
      this.#proceed(this.#run.next(each));
    }
  }

  #proceed(next: IteratorResult<readonly string[], RunOutcome | Rejected>): void {
    this.waitsFor = next.done === true ? [] : next.value;
    if (next.done === true) this.outcome = next.value;
  }

  // Section 2, "continue".
  *#begin(): Waiting<RunOutcome | Rejected> {
    if (this.#setting.start === 'prompt') return yield* this.#wholeRun(this.#setting.prompt, false);
    // After an errored run the errored message is left out; likewise an aborted one (section 2, 3.3).
    const tail = this.transcript.findLast(
      (message) =>
        message.role !== 'assistant' ||
        (message.stopReason !== 'error' && message.stopReason !== 'aborted'),
    );
    if (tail === undefined) return { kind: 'rejected' };
    if (tail.role !== 'assistant') return yield* this.#wholeRun([], false);
    const steering = this.#poll('steering');
    if (steering.length > 0) return yield* this.#wholeRun(steering, true);
    const followUps = this.#poll('followUps');
    if (followUps.length > 0) return yield* this.#wholeRun(followUps, false);
    return { kind: 'rejected' };
  }

  *#wholeRun(first: readonly InputMessage[], skipFirstSteeringPoll: boolean): Waiting<RunOutcome> {
    const from = this.transcript.length;
    this.events.push({ type: 'agent_start' });
    const ended = yield* this.#turns(first, skipFirstSteeringPoll);
    // Section 5: an abort asked for before `agent_end` is an abort, whatever the last effect came to.
    const outcome: RunOutcome = this.#aborted ? { kind: 'aborted' } : ended;
    this.events.push({
      type: 'agent_end',
      messages: { from, to: this.transcript.length },
      stopReason: this.#stopReasonOf(outcome),
      ...(outcome.kind === 'failed' && { errorMessage: outcome.errorMessage }),
      ...(this.#setting.closes && { undelivered: this.#queued() }),
    });
    return outcome;
  }

  #stopReasonOf(outcome: RunOutcome): StopReason | 'limit' {
    if (outcome.kind === 'aborted') return 'aborted';
    if (outcome.kind === 'limit') return 'limit';
    return outcome.kind === 'failed' ? 'error' : this.#lastStopReason;
  }

  *#turns(first: readonly InputMessage[], skipFirstSteeringPoll: boolean): Waiting<RunOutcome> {
    // 2.1
    this.#startTurn(first);
    const exhausted = this.#limitReached();
    if (exhausted !== undefined) {
      this.#endTurn(undefined, []);
      return this.#endAtLimit(exhausted);
    }
    // product.md: the definition is resolved at the start of each run.
    const resolved = (yield* ask('resolveAgent')) as ResolveOutcome;
    if (this.#aborted || resolved.kind !== 'resolved') {
      this.#endTurn(undefined, []);
      if (this.#aborted || resolved.kind !== 'failed') return { kind: 'aborted' };
      return { kind: 'failed', cause: 'input', errorMessage: resolved.errorMessage };
    }
    // 2.2
    if (!skipFirstSteeringPoll) this.#appendInputs(this.#poll('steering'));
    for (;;) {
      const turn = yield* this.#oneTurn();
      if (turn !== 'more' && turn !== 'done') return turn;
      // 2.3.6
      const stopped = yield* this.#turnHooks();
      if (stopped !== undefined) return stopped;
      // product.md: `limits` end the run with `limit_reached`; what is left stays queued.
      const limit = this.#limitReached();
      if (limit !== undefined) {
        const isLeft = turn === 'more' || this.steering.length + this.followUps.length > 0;
        return isLeft ? this.#endAtLimit(limit) : { kind: 'finished' };
      }
      // 2.3.7, 2.4
      let pending = this.#poll('steering');
      if (turn === 'done' && pending.length === 0) {
        pending = this.#poll('followUps');
        if (pending.length === 0) return { kind: 'finished' };
      }
      // 2.3.1
      this.#startTurn(pending);
    }
  }

  *#oneTurn(): Waiting<RunOutcome | 'more' | 'done'> {
    // 2.3.2
    const answer = (yield* ask(`completeChat ${this.#turn}`)) as ChatOutcome;
    if (answer.kind === 'aborted') {
      this.#endTurn(undefined, []);
      return { kind: 'aborted' };
    }
    const { message } = answer;
    const index = this.#append(message);
    this.#tokens += message.usage.total;
    this.#lastStopReason = message.stopReason;
    // 2.3.3
    if (message.stopReason === 'error') {
      this.#endTurn(index, []);
      const errorMessage = message.errorMessage ?? (expect.any(String) as unknown as string);
      return { kind: 'failed', cause: 'model', errorMessage };
    }
    if (message.stopReason === 'aborted') {
      this.#endTurn(index, []);
      return { kind: 'aborted' };
    }
    // 2.3.4
    const calls = message.content.filter((block) => block.type === 'toolCall');
    const cutOff = calls.length > 0 && message.stopReason === 'length';
    this.#cutOffInARow = cutOff ? this.#cutOffInARow + 1 : 0;
    if (calls.length === 0) {
      this.#endTurn(index, []);
      return 'done';
    }
    const { indexes, results } = cutOff
      ? this.#answerCutOff(calls, index)
      : yield* this.#batch(message, calls, index, answer.kind === 'message' ? answer.prepared : []);
    this.#tokens += results.reduce((sum, { usage }) => sum + (usage?.total ?? 0), 0);
    // 2.3.5
    this.#endTurn(index, indexes);
    // Section 3, terminate.
    return results.every(({ terminate }) => terminate === true) ? 'done' : 'more';
  }

  // 2.3.4: nothing of an answer that was cut off is executed.
  #answerCutOff(calls: readonly ToolCall[], index: number) {
    const result = errorSaying(/cut off.*nothing was executed/is);
    for (const call of calls) {
      if (this.#aborted) continue;
      this.#startCall(call, index);
      this.#endCall(call, result);
    }
    const indexes = calls.map((call) => this.#appendResult(call, result));
    return { indexes, results: calls.map(() => result) };
  }

  // Section 3.
  *#batch(
    message: Untimed<AssistantMessage>,
    calls: readonly ToolCall[],
    index: number,
    prepared: Extract<ChatOutcome, { kind: 'message' }>['prepared'],
  ): Waiting<{ indexes: readonly number[]; results: readonly ToolResult[] }> {
    const { toolExecution, tools } = this.#setting;
    const isSequential = (call: ToolCall) =>
      tools.find(({ name }) => name === call.name)?.executionMode === 'sequential';
    const results = new Map<ToolCall, ToolResult>();
    const resultOf = (call: ToolCall) => results.get(call) ?? abortedResult;
    const end = (call: ToolCall, result: ToolResult) => {
      results.set(call, result);
      this.#endCall(call, result);
    };
    const prepare = (call: ToolCall) => {
      const position = message.content.filter(({ type }) => type === 'toolCall').indexOf(call);
      return this.#prepare(call, prepared[position]);
    };

    // "Sequential": start, prepare, execute, finalize, end, result message, then the next call.
    if (toolExecution === 'sequential' || calls.some((call) => isSequential(call))) {
      const indexes: number[] = [];
      for (const call of calls) {
        if (!this.#aborted) {
          this.#startCall(call, index);
          const [answered] = yield* this.#approvals([yield* prepare(call)]);
          end(call, answered?.result ?? (yield* this.#execute(answered as Prepared)));
        }
        indexes.push(this.#appendResult(call, resultOf(call)));
      }
      return { indexes, results: calls.map((call) => resultOf(call)) };
    }

    // "Parallel": started while preparing; settled in preparation, a call ends right away.
    const open: Prepared[] = [];
    for (const call of calls) {
      if (this.#aborted) break;
      this.#startCall(call, index);
      const outcome = yield* prepare(call);
      if (outcome.result === undefined) open.push(outcome);
      else end(call, outcome.result);
    }
    // No tool starts before every call is prepared and answered.
    const ready: Prepared[] = [];
    for (const outcome of yield* this.#approvals(open)) {
      if (outcome.result === undefined) ready.push(outcome);
      else end(outcome.call, outcome.result);
    }
    // Then all run; the ends come in the order of completion.
    const running = new Map<
      string,
      { readonly call: ToolCall; readonly lane: Waiting<ToolResult> }
    >();
    const advance = (call: ToolCall, lane: Waiting<ToolResult>, settled?: Settled) => {
      const next = settled === undefined ? lane.next() : lane.next(settled);
      if (next.done === true) end(call, next.value);
      else running.set(next.value[0] ?? '', { call, lane });
    };
    for (const outcome of ready) advance(outcome.call, this.#execute(outcome));
    while (running.size > 0) {
      const settled = yield [...running.keys()];
      const { call, lane } = running.get(settled.label) ?? fail(settled.label);
      running.delete(settled.label);
      advance(call, lane, settled);
    }
    // Result messages in source order when all are in.
    const indexes = calls.map((call) => this.#appendResult(call, resultOf(call)));
    return { indexes, results: calls.map((call) => resultOf(call)) };
  }

  // Section 3, "Prepare": lookup and validation came with the message.
  *#prepare(
    call: ToolCall,
    given: Extract<ChatOutcome, { kind: 'message' }>['prepared'][number] | undefined,
  ): Waiting<Prepared> {
    const settled = (result: ToolResult): Prepared => ({ call, args: {}, result, asks: false });
    if (given === undefined) return settled(errorSaying(/not executed/i));
    if (given.kind === 'settled') return settled(error(given.text));
    const tool = this.#setting.tools.find(({ name }) => name === call.name);
    if (tool === undefined) {
      const names = this.#setting.tools.map(({ name }) => name).join('.*');
      return settled(errorSaying(new RegExp(names, 's')));
    }
    let args = given.arguments ?? call.arguments;
    if (this.#setting.hasBeforeToolCall) {
      const hook = (yield* ask(`beforeToolCall ${call.id}`)) as BeforeToolCallOutcome;
      if (hook.kind === 'aborted') return settled(abortedResult);
      if (hook.kind === 'threw') return settled(errorSaying(containing(hook.errorMessage)));
      if (hook.kind === 'blocked') {
        return settled(hook.reason ? error(hook.reason) : errorSaying(/blocked/i));
      }
      args = hook.arguments ?? args;
    }
    if (tool.approval === 'deny') return settled(errorSaying(/denies/i));
    return { call, args, asks: tool.approval === 'ask' };
  }

  /** All approvals of the batch are asked for at once and awaited. After an abort none is asked. */
  *#approvals(prepared: readonly Prepared[]): Waiting<readonly Prepared[]> {
    const asking = prepared.filter(({ asks }) => asks);
    if (this.#aborted || asking.length === 0) return prepared;
    const open = new Map(asking.map((each) => [`approve ${each.call.id}`, each]));
    const refused = new Map<Prepared, ToolResult>();
    while (open.size > 0) {
      const { label, value } = yield [...open.keys()];
      const each = open.get(label) ?? fail(label);
      const outcome = value as ApprovalOutcome;
      open.delete(label);
      if (outcome.kind === 'aborted') refused.set(each, abortedResult);
      if (outcome.kind === 'denied') {
        refused.set(each, errorSaying(containing(outcome.reason ?? 'denied')));
      }
    }
    return prepared.map((each) => {
      const result = refused.get(each);
      return result === undefined ? each : { ...each, result };
    });
  }

  // Section 3, "Execute" and "Finalize".
  *#execute({ call, args }: Prepared): Waiting<ToolResult> {
    if (this.#aborted) return abortedResult;
    this.executed.push({ id: call.id, args });
    const raw = (yield* ask(`callTool ${call.id}`)) as ToolResult;
    // Missing content is an empty list.
    const result: ToolResult = {
      ...raw,
      content: (raw.content as ToolResult['content'] | undefined) ?? [],
    };
    if (!this.#setting.hasAfterToolCall) return result;
    const cost = result.usage === undefined ? {} : { usage: result.usage };
    // Section 5: a result that the hook has not seen is recorded as aborted, not raw.
    const withheld = { ...errorSaying(/abort/i), ...cost };
    if (this.#aborted) return withheld;
    const hook = (yield* ask(`afterToolCall ${call.id}`)) as AfterToolCallOutcome;
    if (hook.kind === 'aborted') return withheld;
    if (hook.kind === 'threw') return { ...errorSaying(containing(hook.errorMessage)), ...cost };
    return { ...result, ...hook.fields };
  }

  // 2.3.6
  *#turnHooks(): Waiting<RunOutcome | undefined> {
    const { hasPrepareNextTurn, hasShouldStopAfterTurn } = this.#setting;
    const failed = (hook: string, errorMessage: string): RunOutcome => ({
      kind: 'failed',
      cause: 'hook',
      errorMessage: `${hook}: ${errorMessage}`,
    });
    if (this.#aborted) return { kind: 'aborted' };
    if (hasPrepareNextTurn) {
      const label = `prepareNextTurn ${this.#turn}`;
      const hook = (yield* ask(label)) as PrepareNextTurnOutcome;
      if (this.#aborted) return { kind: 'aborted' };
      if (hook.kind === 'threw') return failed('prepareNextTurn', hook.errorMessage);
    }
    if (hasShouldStopAfterTurn) {
      const label = `shouldStopAfterTurn ${this.#turn}`;
      const hook = (yield* ask(label)) as ShouldStopOutcome;
      if (this.#aborted) return { kind: 'aborted' };
      if (hook.kind === 'threw') return failed('shouldStopAfterTurn', hook.errorMessage);
      if (hook.kind === 'answer' && hook.stop) return { kind: 'finished' };
    }
    return undefined;
  }

  /** product.md, `limits`; loop-cases L7 and L9. Of several the first is told. */
  #limitReached(): { readonly limit: string; readonly value: number } | undefined {
    const { maxTurns, maxTotalTokens = Infinity, exhaustedAt } = this.#setting;
    const begun = this.#lastTurnEnded;
    if (this.#cutOffInARow >= maxCutOffAnswersInARow) {
      return { limit: 'truncatedAnswers', value: maxCutOffAnswersInARow };
    }
    if (begun && this.#turn >= maxTurns) return { limit: 'maxTurns', value: maxTurns };
    if (begun && this.#tokens >= maxTotalTokens) {
      return { limit: 'maxTotalTokens', value: maxTotalTokens };
    }
    if (this.transcript.length < exhaustedAt) return undefined;
    return { limit: 'historyBytes', value: exhaustedAt };
  }

  get #lastTurnEnded(): boolean {
    return this.events.some(({ type }) => type === 'turn_end');
  }

  #endAtLimit(reached: { readonly limit: string; readonly value: number }): RunOutcome {
    this.events.push({ type: 'limit_reached', ...reached });
    return { kind: 'limit', limit: reached.limit };
  }

  #startTurn(messages: readonly InputMessage[]): void {
    this.#turn += 1;
    this.events.push({ type: 'turn_start', turn: this.#turn });
    this.#appendInputs(messages);
  }

  #endTurn(message: number | undefined, toolResults: readonly number[]): void {
    this.events.push({
      type: 'turn_end',
      turn: this.#turn,
      ...(message !== undefined && { message }),
      toolResults,
    });
  }

  #startCall({ id: toolCallId, name: toolName }: ToolCall, message: number): void {
    this.events.push({ type: 'tool_execution_start', toolCallId, toolName, message });
  }

  #endCall({ id: toolCallId, name: toolName }: ToolCall, { isError }: ToolResult): void {
    this.events.push({ type: 'tool_execution_end', toolCallId, toolName, isError });
  }

  #append(message: Untimed): number {
    const index = this.transcript.push(message) - 1;
    this.events.push({ type: 'message_start', message: index });
    this.events.push({ type: 'message_end', message: index });
    return index;
  }

  #appendInputs(messages: readonly InputMessage[]): void {
    for (const message of messages) this.#append(message);
  }

  #appendResult({ id: toolCallId, name: toolName }: ToolCall, result: ToolResult): number {
    const { terminate: _, ...shown } = result;
    return this.#append({ role: 'toolResult', toolCallId, toolName, ...shown });
  }

  /** One message, or all. */
  #poll(queue: 'steering' | 'followUps'): readonly InputMessage[] {
    const { steeringMode, followUpMode } = this.#setting;
    const mode = queue === 'steering' ? steeringMode : followUpMode;
    const texts = this[queue].splice(0, mode === 'all' ? Infinity : 1);
    return texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] }));
  }

  #queued() {
    return [
      ...this.steering.map((preview) => ({ kind: 'steer' as const, preview })),
      ...this.followUps.map((preview) => ({ kind: 'followUp' as const, preview })),
    ];
  }
}

function* ask(label: string): Waiting<unknown> {
  return (yield [label]).value;
}

function error(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** An error result of the loop's own; what the model must be told is in the pattern. */
function errorSaying(pattern: RegExp): ToolResult {
  return error(expect.stringMatching(pattern) as unknown as string);
}

function containing(text: string): RegExp {
  return new RegExp(text.replace(/[^\w\s]/g, '.'));
}

function fail(label: string): never {
  throw new Error(`${label} has settled, but nothing waits for it`);
}
