// One agent run: the loop between the model and its tools, turn after turn, from `agent_start` to
// `agent_end`.
//
// Pure control flow: whatever touches the world comes in as effects. Before every effect that starts
// something the loop looks whether the run was aborted; between taking messages off a queue and
// appending them it never awaits, so no message is ever in neither place.

import type { HookName } from '../protocol/agent-definition.js';
import { toolCallsOf } from '../protocol/messages.js';
import type { AssistantMessage, InputMessage, StopReason, Untimed } from '../protocol/messages.js';
import type { LoopAgent, LoopEffects, LoopSettings, RunOutcome, RunStart } from './loop-effects.js';
import { reachedLimit } from './loop-limits.js';
import type { ReachedLimit, RunUse } from './loop-limits.js';
import { answerCutOffCalls, runToolBatch } from './tool-batch.js';

/** What the loop knows of the run under way. */
interface Run extends RunUse {
  readonly settings: LoopSettings;
  readonly effects: LoopEffects;
  /** The present turn, from 1. */
  turns: number;
  tokens: number;
  truncatedAnswers: number;
  lastStopReason?: StopReason;
}

type Opening =
  | { readonly kind: 'resolved'; readonly agent: LoopAgent }
  | { readonly kind: 'limit'; readonly reached: ReachedLimit }
  | Extract<RunOutcome, { kind: 'aborted' | 'failed' }>;

/** `more`: results that the model has not seen ask for a further turn. */
type TurnOutcome =
  | { readonly kind: 'turned'; readonly more: boolean }
  | { readonly kind: 'ended'; readonly outcome: RunOutcome };

const aborted = { kind: 'aborted' } as const;
const noUse: RunUse = { turns: 0, tokens: 0, truncatedAnswers: 0 };

/**
 * Runs turns until nothing is left to do, and emits every event of the run. Settles only when all its
 * tools have; the prompt is in the transcript before the first await.
 *
 * An abort asked for before `agent_end` makes the outcome `aborted`, even if the last effect succeeded
 * or failed by itself.
 */
export async function runAgentLoop(
  start: RunStart,
  settings: LoopSettings,
  effects: LoopEffects,
): Promise<RunOutcome> {
  const run: Run = { settings, effects, ...noUse };
  const from = effects.transcriptLength();
  effects.emit({ type: 'agent_start' });
  const ended = await runTurns(start, run);
  const outcome = effects.isAborted() ? aborted : ended;
  const undelivered = effects.undelivered();
  effects.emit({
    type: 'agent_end',
    messages: { from, to: effects.transcriptLength() },
    stopReason: stopReasonOf(outcome, run),
    ...(outcome.kind === 'failed' && { errorMessage: outcome.errorMessage }),
    ...(undelivered !== undefined && { undelivered }),
  });
  return outcome;
}

async function runTurns(start: RunStart, run: Run): Promise<RunOutcome> {
  const { settings, effects } = run;
  startTurn(start.messages, run);
  const opened = await openRun(run);
  if (opened.kind !== 'resolved') {
    endTurn(undefined, [], run);
    return opened.kind === 'limit' ? endAtLimit(opened.reached, run) : opened;
  }
  const skipsPoll = start.kind === 'continue' && start.skipFirstSteeringPoll;
  if (!skipsPoll) appendInputs(effects.takeSteering(), run);

  for (;;) {
    const turn = await runTurn(opened.agent, run);
    if (turn.kind === 'ended') return turn.outcome;
    if (effects.isAborted()) return aborted;
    if (opened.agent.hasPrepareNextTurn || opened.agent.hasShouldStopAfterTurn) {
      const ended = await askTurnHooks(opened.agent, run);
      if (ended !== undefined) return ended;
    }

    const reached = reachedLimit(run, settings.limits, effects);
    if (reached !== undefined) {
      // Nothing is polled: what waits stays queued and visible.
      const unfinished = turn.more || effects.hasQueuedMessages();
      return unfinished ? endAtLimit(reached, run) : { kind: 'finished' };
    }
    let pending = effects.takeSteering();
    if (!turn.more && pending.length === 0) {
      pending = effects.takeFollowUps();
      if (pending.length === 0) return { kind: 'finished' };
    }
    startTurn(pending, run);
  }
}

async function openRun({ settings, effects }: Run): Promise<Opening> {
  if (effects.isAborted()) return aborted;
  const reached = reachedLimit(noUse, settings.limits, effects);
  if (reached !== undefined) return { kind: 'limit', reached };
  const resolved = await effects.resolveAgent();
  if (effects.isAborted() || resolved.kind === 'aborted') return aborted;
  return resolved.kind === 'failed' ? { ...resolved, cause: 'input' } : resolved;
}

/** One model response and the calls it asked for, up to `turn_end`. */
async function runTurn(agent: LoopAgent, run: Run): Promise<TurnOutcome> {
  const { settings, effects, turns } = run;
  const answer = await effects.completeChat(turns);
  if (answer.kind === 'aborted') {
    endTurn(undefined, [], run);
    return { kind: 'ended', outcome: aborted };
  }
  const { message } = answer;
  const index = appendMessage(message, run);
  run.tokens += message.usage.total;
  run.lastStopReason = message.stopReason;
  if (answer.kind === 'failed' || message.stopReason === 'error') {
    endTurn(index, [], run);
    return { kind: 'ended', outcome: modelFailure(message) };
  }
  if (message.stopReason === 'aborted') {
    endTurn(index, [], run);
    return { kind: 'ended', outcome: aborted };
  }

  // Whether the model asks for tools is read from the content: servers send calls under any finish reason.
  const hasCalls = toolCallsOf(message).length > 0;
  if (hasCalls && message.stopReason === 'length') {
    run.truncatedAnswers += 1;
    endTurn(index, answerCutOffCalls(message, index, run.truncatedAnswers, effects), run);
    return { kind: 'turned', more: true };
  }
  run.truncatedAnswers = 0;
  if (!hasCalls) {
    endTurn(index, [], run);
    return { kind: 'turned', more: false };
  }
  const batch = { message, index, prepared: answer.prepared, turn: turns };
  const results = await runToolBatch(batch, settings.toolExecution, agent, effects);
  run.tokens += results.tokens;
  endTurn(index, results.toolResults, run);
  return { kind: 'turned', more: !results.terminate };
}

/** What ends the run after a turn although it went well: one of the hooks, or an abort during it. */
async function askTurnHooks(agent: LoopAgent, run: Run): Promise<RunOutcome | undefined> {
  const { effects, turns } = run;
  if (agent.hasPrepareNextTurn) {
    const outcome = await effects.prepareNextTurn(turns);
    if (effects.isAborted()) return aborted;
    if (outcome.kind === 'threw') return hookFailure('prepareNextTurn', outcome.errorMessage);
  }
  if (agent.hasShouldStopAfterTurn) {
    const outcome = await effects.shouldStopAfterTurn(turns);
    if (effects.isAborted()) return aborted;
    if (outcome.kind === 'threw') return hookFailure('shouldStopAfterTurn', outcome.errorMessage);
    if (outcome.kind === 'answer' && outcome.stop) return { kind: 'finished' };
  }
  return undefined;
}

function startTurn(messages: readonly InputMessage[], run: Run): void {
  run.turns += 1;
  run.effects.emit({ type: 'turn_start', turn: run.turns });
  appendInputs(messages, run);
}

function endTurn(
  message: number | undefined,
  toolResults: readonly number[],
  { effects, turns: turn }: Run,
): void {
  effects.emit({
    type: 'turn_end',
    turn,
    ...(message !== undefined && { message }),
    toolResults,
  });
}

function appendInputs(messages: readonly InputMessage[], run: Run): void {
  for (const message of messages) appendMessage(message, run);
}

function appendMessage(content: Untimed, { effects }: Run): number {
  const message = effects.append(content);
  effects.emit({ type: 'message_start', message });
  effects.emit({ type: 'message_end', message });
  return message;
}

function endAtLimit(reached: ReachedLimit, { effects }: Run): RunOutcome {
  effects.emit({ type: 'limit_reached', ...reached });
  return { kind: 'limit', limit: reached.limit };
}

function modelFailure({ errorMessage }: Untimed<AssistantMessage>): RunOutcome {
  return {
    kind: 'failed',
    cause: 'model',
    errorMessage: errorMessage ?? 'The model call failed without saying why.',
  };
}

function hookFailure(hook: HookName, errorMessage: string): RunOutcome {
  return { kind: 'failed', cause: 'hook', errorMessage: `${hook}: ${errorMessage}` };
}

function stopReasonOf(outcome: RunOutcome, run: Run): StopReason | 'limit' {
  switch (outcome.kind) {
    case 'finished':
      return run.lastStopReason ?? 'stop';
    case 'aborted':
      return 'aborted';
    case 'limit':
      return 'limit';
    case 'failed':
      return 'error';
  }
}
