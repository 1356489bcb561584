// The workflow `agent`: one conversation, from its start to its end. It decodes its input, runs the loop as
// often as its lifetime says, and closes; everything else is in the session it owns.

import type { RawValue } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  allHandlersFinished,
  condition,
  defineWorkflowOptions,
} from '@temporalio/workflow';
import { parseAgentInput } from '../protocol/agent-input.js';
import type { ParsedAgentInput } from '../protocol/agent-input.js';
import { FailureType } from '../protocol/failure-types.js';
import { everyArgumentRaw } from '../protocol/handlers.js';
import { payloadLimits } from '../protocol/limits.js';
import type { AgentRunResult, AgentSessionResult } from '../protocol/session.js';
import { AgentSession } from './agent-session.js';
import { Agents } from './agents.js';
import { planContinue } from './continuation.js';
import type { RunStart } from './loop-effects.js';
import { decodePayload } from './payload.js';
import { runAgent, runFailure, stopReasonOf } from './run-agent.js';
import { serveSession } from './serve-session.js';
import { registerHandlers } from './session-handlers.js';
import { responseOf } from './session-state.js';

/**
 * Runs an agent. The input is a string or an `AgentInput`.
 *
 * @throws InvalidInput (final) naming the field that is wrong; ModelError or HookError (final) when a run of
 * lifetime `run` ended so; CancelledFailure when the workflow was cancelled.
 */
export async function agent(input?: RawValue): Promise<AgentRunResult | AgentSessionResult> {
  const session = new AgentSession(decodeInput(input), CancellationScope.current());
  const agents = new Agents();
  agents.add(session.input.agent, session);
  registerHandlers(agents);
  if (session.input.lifetime === 'run') return await runOnce(session);
  return await serve(session);
}

// Raw, so that an input nobody can decode fails the workflow instead of its task, for ever.
defineWorkflowOptions(agent, {
  staticOptions: { typeInfo: { inputTypes: everyArgumentRaw } },
});

function decodeInput(raw: RawValue | undefined): ParsedAgentInput {
  const decoded = decodePayload(raw);
  if (decoded.kind === 'undecodable') throw invalidInput(`input: ${decoded.reason}`);
  const parsed = parseAgentInput(decoded.kind === 'absent' ? {} : decoded.value);
  if ('problem' in parsed) throw invalidInput(parsed.problem);
  return parsed.value;
}

function invalidInput(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, FailureType.InvalidInput);
}

/** Lifetime `run`: the workflow ends when the agent run ends. */
async function runOnce(session: AgentSession): Promise<AgentRunResult> {
  const { prompt } = session.input;
  const from = session.transcript.length;
  const outcome = await runAgent(
    session,
    prompt === undefined ? continuation(session) : { kind: 'prompt', messages: prompt },
  );
  session.close();
  if (session.isCancelled()) throw new CancelledFailure('The workflow was cancelled.');
  if (outcome.kind === 'failed') throw runFailure(outcome);
  return {
    stopReason: stopReasonOf(session, outcome),
    response: responseOf(session, payloadLimits.maxResponseBytes),
    usage: session.usage,
    turns: session.turns,
    newMessages: { from, to: session.transcript.length },
    undelivered: session.undelivered(),
  };
}

function continuation(session: AgentSession): RunStart {
  const plan = planContinue(session.transcript.messages, session);
  if (plan.kind === 'rejected')
    throw invalidInput(`messages: nothing to continue, ${plan.reason}.`);
  return plan.start;
}

/** Lifetime `session`: open for further prompts until it is ended. */
async function serve(session: AgentSession): Promise<AgentSessionResult> {
  await serveSession(session, session.input.idleTimeoutMs);
  session.close();
  const undelivered = session.undelivered();
  session.emit({ type: 'closed', undelivered });
  if (session.isCancelled()) throw new CancelledFailure('The workflow was cancelled.');
  await condition(allHandlersFinished);
  return { runs: session.runs, usage: session.usage, undelivered };
}
