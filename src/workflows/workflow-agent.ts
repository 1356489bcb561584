// An agent of a workflow of one's own: created by its code, run by its code, or served to people for a
// while. Signals, queries and the update reach it as they reach the workflow `agent`.

import { ApplicationFailure, CancellationScope, CancelledFailure } from '@temporalio/workflow';
import { durationProblem, toMilliseconds } from '../protocol/duration.js';
import { FailureType } from '../protocol/failure-types.js';
import { deepFreeze } from '../protocol/json.js';
import { parseInputMessage, parsePrompt } from '../protocol/message-input.js';
import type { Message, Usage } from '../protocol/messages.js';
import type {
  AgentRunResult,
  AgentState,
  MessageRange,
  PromptMessage,
  QueuedMessageSummary,
  ResponseMessage,
} from '../protocol/session.js';
import type { AgentSession } from './agent-session.js';
import type { Agents } from './agents.js';
import { planContinue } from './continuation.js';
import type { RunStart } from './loop-effects.js';
import { runAgent, runFailure, stopReasonOf } from './run-agent.js';
import { serveSession } from './serve-session.js';
import type { ServingEnd } from './serve-session.js';
import { queue } from './session-inputs.js';
import { responseOf, stateOf } from './session-state.js';

/** How an agent run ended. */
export interface AgentRunReport {
  /** The last message's; `limit` when a limit ended the run, `aborted` when an abort did. */
  readonly stopReason: AgentRunResult['stopReason'];
  /** The last answer of this run, whole; null when there was none. */
  readonly response: ResponseMessage | null;
  /** What this run used. */
  readonly usage: Usage;
  readonly turns: number;
  /** The messages this run added to the transcript. */
  readonly newMessages: MessageRange;
  /** Why it was aborted, where that was said. */
  readonly abortReason?: string;
}

export interface ServeOptions {
  /** Ends the serving after being idle this long, e.g. `30 minutes` or milliseconds. Default: never. */
  readonly idleTimeout?: string | number;
}

export interface ServeReport {
  /** `closed`: the signal `close`; `idle`: the idle time-out; `limit`: the history nears the server's limit. */
  readonly endedBy: Exclude<ServingEnd, 'cancelled'>;
}

export class WorkflowAgent {
  /** How signals, queries and the update address it. */
  readonly name: string;
  readonly #session: AgentSession;
  readonly #agents: Agents;

  /** Made by `createAgent`. */
  constructor(name: string, session: AgentSession, agents: Agents) {
    this.name = name;
    this.#session = session;
    this.#agents = agents;
  }

  /**
   * Runs the agent from a prompt until nothing is left to do. What was queued for it meanwhile enters.
   *
   * An abort, by signal or `abort()`, is a report; so is a limit. The agent can be run again after whatever
   * ended a run.
   *
   * @throws InvalidInput, ModelError, HookError (final ApplicationFailures) for a run that failed, and for a
   * prompt that is none; CancelledFailure when the scope it was called in was cancelled, once this run has ended
   * and with it all that were cancelled at the same time, but for one whose hook called it;
   * AgentNotIdle (final) while the agent is in a run or served, and once it is closed.
   */
  async run(prompt: PromptMessage | readonly PromptMessage[]): Promise<AgentRunReport> {
    this.#assertReady();
    const parsed = parsePrompt(prompt, 'prompt');
    if ('problem' in parsed) throw invalidInput(parsed.problem);
    return await this.#run({ kind: 'prompt', messages: parsed.value });
  }

  /**
   * Runs on from the present transcript; from an answer, with what is queued.
   *
   * @throws as `run`; InvalidInput when there is nothing to continue
   */
  async continue(): Promise<AgentRunReport> {
    this.#assertReady();
    const plan = planContinue(this.#session.transcript.messages, this.#session);
    if (plan.kind === 'rejected') throw invalidInput(`Nothing to continue: ${plan.reason}.`);
    return await this.#run(plan.start);
  }

  /**
   * Takes the signals `prompt` and `continue`, which start runs, until `close`, the idle time-out or the end
   * of the history. A run that fails is told in `state` and its events, and the serving goes on.
   *
   * @throws CancelledFailure when the scope it was called in was cancelled; AgentNotIdle as `run`
   */
  async serve({ idleTimeout }: ServeOptions = {}): Promise<ServeReport> {
    this.#assertReady();
    const problem =
      idleTimeout === undefined ? undefined : durationProblem(idleTimeout, 'idleTimeout');
    if (problem !== undefined) throw invalidInput(problem);
    const idleTimeoutMs = idleTimeout === undefined ? undefined : toMilliseconds(idleTimeout);
    const session = this.#session;
    session.served = true;
    try {
      for (;;) {
        const endedBy = await serveSession(session, idleTimeoutMs);
        if (endedBy === 'cancelled') {
          await this.#agents.abortedRunsEnded(CancellationScope.current());
          throw cancelled();
        }
        // A prompt that came as the time ran out was accepted.
        if (session.pendingStart === undefined) return { endedBy };
      }
    } finally {
      session.returnStart();
      session.served = false;
      session.closing = false;
    }
  }

  /** Queues a message that enters before the next model call of this run, or of the next one. */
  steer(message: PromptMessage): void {
    this.#queue('steer', message);
  }

  /** Queues a message that enters when the run would otherwise end. */
  followUp(message: PromptMessage): void {
    this.#queue('followUp', message);
  }

  /** Stops the present run, whose report then says `aborted`. When idle, nothing. */
  abort(reason?: string): void {
    this.#session.abort(reason);
  }

  /**
   * Ends the agent: nothing more is accepted, and what is still queued is reported as undelivered. Optional:
   * without it the queues stay in sight after the workflow's end.
   *
   * @throws AgentNotIdle (final) as `run`
   */
  close(): readonly QueuedMessageSummary[] {
    this.#assertIdle();
    this.#session.close();
    const undelivered = this.#session.undelivered();
    this.#session.emit({ type: 'closed', undelivered });
    return undelivered;
  }

  /** What the query `state` answers. */
  state(): AgentState {
    return stateOf(this.#session, this.#agents.names);
  }

  /** The transcript, frozen. */
  get messages(): readonly Message[] {
    return deepFreeze([...this.#session.transcript.messages]);
  }

  /** The last answer of all runs, whole; null before there is one. */
  response(): ResponseMessage | null {
    return responseOf(this.#session, Infinity);
  }

  async #run(start: RunStart): Promise<AgentRunReport> {
    const session = this.#session;
    const scope = CancellationScope.current();
    const from = session.transcript.length;
    const outcome = await runAgent(session, start);
    session.lastError = outcome.kind === 'failed' ? outcome.errorMessage : undefined;
    if (scope.consideredCancelled) {
      await this.#agents.abortedRunsEnded(scope);
      throw cancelled();
    }
    if (outcome.kind === 'failed') throw runFailure(outcome);
    const { lastAbortReason, runUsage, turns, transcript } = session;
    const isExplained = outcome.kind === 'aborted' && lastAbortReason !== undefined;
    return {
      stopReason: stopReasonOf(session, outcome),
      response: responseOf(session, Infinity, from),
      usage: runUsage,
      turns,
      newMessages: { from, to: transcript.length },
      ...(isExplained ? { abortReason: lastAbortReason } : {}),
    };
  }

  #queue(kind: 'steer' | 'followUp', message: PromptMessage): void {
    if (this.#session.closed) throw this.#notIdle('was closed; create another');
    const parsed = parseInputMessage(message, 'message');
    if ('problem' in parsed) throw invalidInput(parsed.problem);
    queue(this.#session, { kind, message: parsed.value });
  }

  #assertReady(): void {
    if (CancellationScope.current().consideredCancelled) throw cancelled();
    this.#assertIdle();
  }

  #assertIdle(): void {
    if (this.#session.closed) throw this.#notIdle('was closed; create another');
    if (this.#session.served) {
      throw this.#notIdle(
        'is served: its runs begin with the signal prompt, until serve() returns',
      );
    }
    if (this.#session.isBusy) {
      throw this.#notIdle('is in a run; await it, or say more with steer() or followUp()');
    }
  }

  #notIdle(why: string): ApplicationFailure {
    return ApplicationFailure.nonRetryable(
      `The agent ${this.name} ${why}.`,
      FailureType.AgentNotIdle,
    );
  }
}

function cancelled(): CancelledFailure {
  return new CancelledFailure('The scope that the agent ran in was cancelled.');
}

export function invalidInput(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, FailureType.InvalidInput);
}
