// The state of one session: transcript, events, queues, approvals, and the run under way. Handlers and the
// run's effects work on it; it schedules nothing itself.

import { setCurrentDetails } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { ResolveAgentInput, ToolResult } from '../protocol/activities.js';
import type { ResolvedAgent } from '../protocol/agent-definition.js';
import type { ParsedAgentInput } from '../protocol/agent-input.js';
import type { AgentEvent } from '../protocol/events.js';
import type { Digest } from '../protocol/json.js';
import { addUsage, zeroUsage } from '../protocol/messages.js';
import type { Message, ToolCall, Untimed, Usage } from '../protocol/messages.js';
import type { PendingToolCall, QueuedMessageSummary } from '../protocol/session.js';
import { Approvals } from './approvals.js';
import { currentDetails } from './current-details.js';
import { digestOf } from './digest.js';
import { EventLog } from './event-log.js';
import type { ApprovalOutcome, ExecutableCall, RunStart } from './loop-effects.js';
import { createQueue, summariesOf } from './queues.js';
import { createRememberedIds } from './remembered-ids.js';
import { Transcript } from './transcript.js';
import { ValueStore } from './value-store.js';

/** Summaries in one answer: a query's page, the result, an event. */
const maxSummariesBytes = 40_000;

export class AgentSession {
  readonly transcript = new Transcript();
  readonly events = new EventLog();
  readonly approvals = new Approvals();
  readonly values = new ValueStore();
  readonly rememberedIds = createRememberedIds();
  readonly steering;
  readonly followUp;
  readonly pendingToolCalls = new Map<string, PendingToolCall>();

  /** A run that was accepted and has not begun: from here on the session is busy. */
  pendingStart: RunStart | undefined;
  /** The scope of the run under way; cancelling it is the abort. */
  runScope: CancellationScope | undefined;
  /** After `close`: no further run begins and no follow-up is taken. */
  closing = false;
  closed = false;
  runs = 0;
  /** Turns of the last run. */
  turns = 0;
  usage: Usage = zeroUsage;
  lastError: string | undefined;

  /** An abort came between a start and its run. */
  #abortsNextRun = false;
  #abortReason: string | undefined;
  readonly #rootScope: CancellationScope;
  #agent: { readonly definition: ResolvedAgent; readonly digest: Digest } | undefined;

  readonly input: ParsedAgentInput;

  constructor(input: ParsedAgentInput, rootScope: CancellationScope) {
    this.input = input;
    this.#rootScope = rootScope;
    this.steering = createQueue(input.steeringMode);
    this.followUp = createQueue(input.followUpMode);
    for (const message of input.messages) this.append(message);
    this.usage = zeroUsage;
    // Before any handler: signals that came with the start find the session busy.
    if (input.lifetime === 'session' && input.prompt !== undefined) {
      this.pendingStart = { kind: 'prompt', messages: input.prompt };
    }
  }

  /** Stops the present run, also one that was accepted and has not begun. When idle, nothing. */
  abort(reason?: string): void {
    const beginsOnItsOwn = this.input.lifetime === 'run' && this.runs === 0;
    const isStarting = this.pendingStart !== undefined || beginsOnItsOwn;
    if (this.runScope === undefined && !isStarting) return;
    this.#abortReason ??= reason;
    if (this.runScope !== undefined) this.runScope.cancel();
    else this.#abortsNextRun = true;
  }

  beginRun(scope: CancellationScope): void {
    this.runScope = scope;
    this.runs += 1;
    this.turns = 0;
    // An approval waits for a person, not for an activity: cancelling the scope does not end it.
    scope.cancelRequested.catch(() => this.approvals.abort());
    if (this.#abortsNextRun) scope.cancel();
    this.#abortsNextRun = false;
  }

  endRun(): void {
    this.runScope = undefined;
    this.#abortReason = undefined;
    setCurrentDetails(currentDetails(this));
  }

  /** From here on nothing is accepted and nothing happens; what is queued is undelivered. */
  close(): void {
    this.closing = true;
    this.closed = true;
    setCurrentDetails(currentDetails(this));
  }

  get isBusy(): boolean {
    return this.pendingStart !== undefined || this.runScope !== undefined;
  }

  /** The workflow itself was cancelled, not just its present run. */
  isCancelled(): boolean {
    return this.#rootScope.consideredCancelled;
  }

  append(message: Untimed | Message): number {
    if ('usage' in message) this.usage = addUsage(this.usage, message.usage);
    return this.transcript.append(message, Date.now());
  }

  emit(event: AgentEvent, result?: ToolResult): void {
    if (event.type === 'tool_execution_end' && result !== undefined) {
      this.events.holdResult(event.toolCallId, result);
    }
    if (event.type === 'turn_start') this.turns = event.turn;
    if (event.type === 'turn_end') {
      this.events.forgetResults();
      this.values.forgetBatch();
      this.pendingToolCalls.clear();
    }
    this.events.emit(this.#withReason(event), Date.now());
    // Messages come with an event that shows more: what starts or ends the turn, or a tool.
    if (event.type !== 'message_start' && event.type !== 'message_end') {
      setCurrentDetails(currentDetails(this));
    }
  }

  #withReason(event: AgentEvent): AgentEvent {
    if (event.type !== 'agent_end' || event.stopReason !== 'aborted') return event;
    return this.#abortReason === undefined ? event : { ...event, reason: this.#abortReason };
  }

  /** What the agent's activity is asked; the recorded definition is named, not repeated. */
  resolveInput(): ResolveAgentInput {
    const { agent, workspace, model, thinkingLevel, tools, mcpServers, systemPrompt } = this.input;
    return {
      agent,
      workspace,
      ...(model === undefined ? {} : { model }),
      ...(thinkingLevel === undefined ? {} : { thinkingLevel }),
      ...(tools === undefined ? {} : { tools }),
      ...(mcpServers === undefined ? {} : { mcpServers }),
      replacesSystemPrompt: systemPrompt !== undefined,
      ...(this.#agent === undefined ? {} : { known: this.#agent.digest }),
    };
  }

  setResolved(definition: ResolvedAgent): void {
    this.#agent = { definition, digest: digestOf(definition) };
  }

  get agent(): ResolvedAgent | undefined {
    return this.#agent?.definition;
  }

  resolved(): ResolvedAgent {
    if (this.#agent === undefined) throw new Error('The agent is used before it is resolved.');
    return this.#agent.definition;
  }

  setToolCallStatus({ id, name }: ToolCall, status: 'preparing' | 'running' | 'done'): void {
    if (status === 'done') this.pendingToolCalls.delete(id);
    else this.pendingToolCalls.set(id, { toolCallId: id, toolName: name, status });
  }

  /** Asks for all at once and waits for all; an abort answers those that are left. */
  awaitApprovals(calls: readonly ExecutableCall[]): Promise<readonly ApprovalOutcome[]> {
    const outcomes = calls.map(({ call, args }) => {
      const toolCallId = call.id;
      const toolName = call.name;
      this.pendingToolCalls.set(toolCallId, {
        toolCallId,
        toolName,
        status: 'waiting_for_approval',
      });
      const outcome = this.approvals.ask({ toolCallId, toolName, args });
      this.emit({ type: 'approval_requested', toolCallId, toolName });
      return outcome;
    });
    return Promise.all(outcomes);
  }

  /** What is queued, and what a start that never began would have said. */
  undelivered(): readonly QueuedMessageSummary[] {
    const started = (this.pendingStart?.messages ?? []).map((message) => ({
      kind: 'prompt' as const,
      message,
    }));
    const entries = [...started, ...this.steering.entries, ...this.followUp.entries];
    return summariesOf(entries, maxSummariesBytes);
  }
}
