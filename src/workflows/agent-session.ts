// The state of one session: transcript, events, queues, approvals, and the run under way. Handlers and the
// run's effects work on it; it schedules nothing itself.

import { setCurrentDetails } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { ResolveAgentInput, ToolResult } from '../protocol/activities.js';
import type { ResolvedAgent } from '../protocol/agent-definition.js';
import type { ParsedAgentInput } from '../protocol/agent-input.js';
import { toActivityId } from '../protocol/agent-names.js';
import type { AgentEvent } from '../protocol/events.js';
import type { Digest } from '../protocol/json.js';
import { addUsage, zeroUsage } from '../protocol/messages.js';
import type { Message, ToolCall, Untimed, Usage } from '../protocol/messages.js';
import type { PendingToolCall, QueuedMessageSummary } from '../protocol/session.js';
import type { ActivityPlace } from './activity-calls.js';
import { Approvals } from './approvals.js';
import { currentDetails } from './current-details.js';
import { digestOf } from './digest.js';
import { EventLog } from './event-log.js';
import type {
  ApprovalOutcome,
  ExecutableCall,
  RunStart,
  ToolCallProgress,
} from './loop-effects.js';
import { createQueue, summariesOf } from './queues.js';
import { createRememberedIds } from './remembered-ids.js';
import { Transcript } from './transcript.js';
import { ValueStore } from './value-store.js';
import type { WorkflowHooks } from './workflow-hooks.js';

/** Summaries in one answer: a query's page, the result, an event. */
const maxSummariesBytes = 40_000;

/** What an agent of a workflow of one's own has, and the one of the workflow `agent` has not. */
export interface OwnAgent {
  /** How it is addressed in its workflow. */
  readonly name: string;
  readonly hooks: WorkflowHooks;
  /** Where Holdfast's activities are served. Default: the workflow's own task queue. */
  readonly taskQueue?: string;
  /** Shows what it is doing, beside the workflow's other agents. */
  readonly showDetails: (details: string) => void;
}

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
  /** Prompts, `continue` and `close` are taken; while not, the workflow's code begins the runs. */
  served: boolean;
  runs = 0;
  /** Turns of the last run. */
  turns = 0;
  usage: Usage = zeroUsage;
  /** Of the last run. */
  runUsage: Usage = zeroUsage;
  lastError: string | undefined;

  /** An abort came between a start and its run. */
  #abortsNextRun = false;
  #abortReason: string | undefined;
  /** Why the last run was aborted, where that was said. */
  lastAbortReason: string | undefined;
  readonly #rootScope: CancellationScope;
  #agent: { readonly definition: ResolvedAgent; readonly digest: Digest } | undefined;

  readonly input: ParsedAgentInput;
  readonly own: OwnAgent | undefined;
  #activities = 0;

  constructor(input: ParsedAgentInput, rootScope: CancellationScope, own?: OwnAgent) {
    this.input = input;
    this.own = own;
    this.served = own === undefined && input.lifetime === 'session';
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
    this.runUsage = zeroUsage;
    // An approval waits for a person, not for an activity: cancelling the scope does not end it.
    scope.cancelRequested.catch(() => {
      if (this.runScope === scope) this.approvals.abort();
    });
    if (this.#abortsNextRun) scope.cancel();
    this.#abortsNextRun = false;
  }

  endRun(): void {
    this.runScope = undefined;
    this.lastAbortReason = this.#abortReason;
    this.#abortReason = undefined;
    this.#showDetails();
  }

  /** From here on nothing is accepted and nothing happens; what is queued is undelivered. */
  close(): void {
    this.closing = true;
    this.closed = true;
    this.#showDetails();
  }

  #showDetails(): void {
    const details = currentDetails(this);
    if (this.own === undefined) setCurrentDetails(details);
    else this.own.showDetails(details);
  }

  get isBusy(): boolean {
    return this.pendingStart !== undefined || this.runScope !== undefined;
  }

  /** The workflow itself was cancelled, not just its present run. */
  isCancelled(): boolean {
    return this.#rootScope.consideredCancelled;
  }

  /**
   * The run that ends now is the last: what is queued will not be delivered. A workflow of one's own may
   * always run its agent again.
   */
  isLastRun(): boolean {
    if (this.own !== undefined) return false;
    return this.input.lifetime === 'run' || this.closing || this.isCancelled();
  }

  /** What the next activity is called and where it goes. */
  nextActivity(): ActivityPlace {
    if (this.own === undefined) return {};
    const { name, taskQueue } = this.own;
    this.#activities += 1;
    return {
      activityId: toActivityId(name, this.#activities),
      ...(taskQueue === undefined ? {} : { taskQueue }),
    };
  }

  append(message: Untimed | Message): number {
    if ('usage' in message) {
      this.usage = addUsage(this.usage, message.usage);
      this.runUsage = addUsage(this.runUsage, message.usage);
    }
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
      this.#showDetails();
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

  setToolCallStatus({ id, name }: ToolCall, status: ToolCallProgress): void {
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

  /**
   * Puts the messages of a start that never began before the follow-ups: they were accepted, and the next
   * run takes them. An abort of that start is none of that run.
   */
  returnStart(): void {
    const messages = this.pendingStart?.messages ?? [];
    this.pendingStart = undefined;
    this.#abortsNextRun = false;
    this.#abortReason = undefined;
    this.followUp.entries.unshift(
      ...messages.map((message) => ({ kind: 'prompt' as const, message })),
    );
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
