// One agent run's effects: the loop's functions, wired to activities, the transcript, the queues and the
// approvals of a session. What activities report becomes an outcome here; only bugs are thrown.

import { workflowInfo } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type {
  CompleteChatInput,
  ByReference,
  ToolHookInput,
  TurnHookInput,
} from '../protocol/activities.js';
import { jsonSize } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import { historyLimits, payloadLimits } from '../protocol/limits.js';
import { toolCallsOf, zeroUsage } from '../protocol/messages.js';
import { abortBound, gaveUp } from './abort-bound.js';
import type { AgentSession } from './agent-session.js';
import { agentResolver, hookCaller, isRetryable, modelCaller } from './activity-calls.js';
import { exhaustedHistory } from './exhausted-history.js';
import { failureMessage } from './failure-message.js';
import { hookOutcome } from './hook-outcome.js';
import type { ChatOutcome, ExecutableCall, LoopEffects } from './loop-effects.js';
import { takeBatch } from './queues.js';
import { isReadableChat } from './readable-results.js';
import { RunView } from './run-view.js';
import { errorResult } from './tool-call-texts.js';
import { toolFailureResult } from './tool-failure.js';
import { withWorkflowHooks } from './workflow-hooks.js';
import { createWorkspaceCaller } from './workspace-call.js';

/** Creates the effects of one run. Call inside the run's cancellation scope, whose cancel is the abort. */
export function createRunEffects(session: AgentSession, scope: CancellationScope): LoopEffects {
  const { input, transcript, values } = session;
  const view = new RunView(session);
  const isAborted = () => scope.consideredCancelled;
  const untilGivenUp = abortBound(scope, () => session.runScope !== scope);
  const waiting = { isAborted, untilGivenUp };
  const callInWorkspace = createWorkspaceCaller(session, isAborted);

  function byReference(args: JsonObject): ByReference<JsonObject> {
    return jsonSize(args) <= payloadLimits.maxInlineArgumentsBytes
      ? { value: args }
      : { digest: values.keepForBatch(args) };
  }

  const withThinking = () => {
    const { thinkingLevel } = view;
    return thinkingLevel === undefined ? {} : { thinkingLevel };
  };

  const toolHookInput = ({ call, args, turn }: ExecutableCall): ToolHookInput => ({
    agent: input.agent,
    workspace: input.workspace,
    turn,
    toolCallId: call.id,
    toolName: call.name,
    arguments: byReference(args),
    conversation: view.conversation(),
  });

  const turnHookInput = (turn: number): TurnHookInput => ({
    agent: input.agent,
    workspace: input.workspace,
    turn,
    model: view.model,
    ...withThinking(),
    conversation: view.conversation(),
  });

  const activityOutcome = <T>(call: Promise<T>) => hookOutcome(call, waiting, failureMessage);

  const effects: LoopEffects = {
    isAborted,
    append: (message) => session.append(message),
    transcriptLength: () => transcript.length,
    emit: (event, result) => session.emit(event, result),
    takeSteering: () => takeBatch(session.steering),
    // A session that closes begins nothing more: what waits is reported as undelivered.
    takeFollowUps: () => (session.closing ? [] : takeBatch(session.followUp)),
    hasQueuedMessages: () =>
      session.steering.entries.length > 0 ||
      (!session.closing && session.followUp.entries.length > 0),
    toolCallStatus: (call, status) => session.setToolCallStatus(call, status),
    undelivered: () => (session.isLastRun() ? session.undelivered() : undefined),
    exhaustedLimit: exhaustedHistory,

    async resolveAgent() {
      try {
        const result = await untilGivenUp(
          agentResolver(input.agent, session.nextActivity()).resolveAgent(session.resolveInput()),
        );
        if (result === gaveUp) return { kind: 'aborted' };
        if (result.kind === 'resolved') session.setResolved(result.agent);
      } catch (error) {
        if (isAborted()) return { kind: 'aborted' };
        return { kind: 'failed', errorMessage: failureMessage(error) };
      }
      const { tools, hooks } = session.resolved();
      return {
        kind: 'resolved',
        agent: {
          tools,
          hasBeforeToolCall: hooks.includes('beforeToolCall'),
          hasAfterToolCall: hooks.includes('afterToolCall'),
          hasPrepareNextTurn: hooks.includes('prepareNextTurn'),
          hasShouldStopAfterTurn: hooks.includes('shouldStopAfterTurn'),
        },
      };
    },

    async completeChat(turn) {
      const chatInput: CompleteChatInput = {
        agent: input.agent,
        model: view.model,
        ...withThinking(),
        conversation: view.conversation(),
        turn,
      };
      transcript.markModelCall();
      const chosen = session.resolved().models[chatInput.model];
      const modelId = chosen?.model ?? chatInput.model;
      const failed = (errorMessage: string): ChatOutcome => ({
        kind: 'failed',
        message: {
          role: 'assistant',
          content: [],
          provider: chosen?.provider ?? '',
          model: modelId,
          usage: zeroUsage,
          stopReason: 'error',
          errorMessage,
        },
      });
      try {
        const caller = modelCaller(`turn ${turn} · ${modelId}`, session.nextActivity());
        const result = await untilGivenUp(caller.completeChat(chatInput));
        if (result === gaveUp) return { kind: 'aborted' };
        if (isReadableChat(result)) return { kind: 'message', ...result };
        return failed('The result of the model call cannot be read.');
      } catch (error) {
        return isAborted() ? { kind: 'aborted' } : failed(failureMessage(error));
      }
    },

    async beforeToolCall(call) {
      const caller = hookCaller(`beforeToolCall · ${call.call.name}`, session.nextActivity());
      const outcome = await activityOutcome(caller.beforeToolCall(toolHookInput(call)));
      if (outcome.kind !== 'returned') return outcome;
      const { block, reason, arguments: replaced } = outcome.value ?? {};
      if (block === true) return { kind: 'blocked', ...(reason === undefined ? {} : { reason }) };
      return { kind: 'proceed', ...(replaced === undefined ? {} : { arguments: replaced }) };
    },

    awaitApprovals: (calls) => session.awaitApprovals(calls),

    async callTool(executable) {
      const { call, args, message, spec } = executable;
      const room = resultRoom(message);
      try {
        const result = await untilGivenUp(
          callInWorkspace(executable, {
            agent: input.agent,
            workspace: input.workspace,
            toolCallId: call.id,
            toolName: call.name,
            arguments: byReference(args),
            message,
            maxResultBytes: Math.min(input.limits.maxToolResultBytes, room),
            maxImageBytes: Math.min(input.limits.maxImageBytes, room),
            retryable: isRetryable(spec),
          }),
        );
        return result === gaveUp ? errorResult('Aborted; the tool may still be running.') : result;
      } catch (error) {
        return toolFailureResult(error, { call, args, spec }, isAborted());
      }
    },

    async afterToolCall(call, result) {
      const caller = hookCaller(`afterToolCall · ${call.call.name}`, session.nextActivity());
      const outcome = await activityOutcome(
        caller.afterToolCall({ ...toolHookInput(call), result: values.keepForBatch(result) }),
      );
      return outcome.kind === 'returned' ? { kind: 'replaced', fields: outcome.value } : outcome;
    },

    async prepareNextTurn(turn) {
      const caller = hookCaller(`prepareNextTurn · turn ${turn}`, session.nextActivity());
      const outcome = await activityOutcome(caller.prepareNextTurn(turnHookInput(turn)));
      if (outcome.kind !== 'returned') return outcome;
      return { kind: 'view', view: view.change(outcome.value) };
    },

    async shouldStopAfterTurn(turn) {
      const caller = hookCaller(`shouldStopAfterTurn · turn ${turn}`, session.nextActivity());
      const outcome = await activityOutcome(caller.shouldStopAfterTurn(turnHookInput(turn)));
      return outcome.kind === 'returned' ? { kind: 'answer', stop: outcome.value } : outcome;
    },
  };
  const hooks = session.own?.hooks;
  return hooks === undefined
    ? effects
    : withWorkflowHooks(effects, hooks, { session, view, ...waiting });

  /** Bytes one result may take, so that a whole batch of them still fits the history. */
  function resultRoom(message: number): number {
    const assistant = transcript.at(message);
    const calls = assistant?.role === 'assistant' ? toolCallsOf(assistant).length : 1;
    const left = historyLimits.serverBytes - workflowInfo().historySize;
    return Math.max(2_048, Math.floor(left / 3 / Math.max(1, calls)));
  }
}
