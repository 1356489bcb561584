// Invariants of the event log: numbering, pairing, and what a run announces.

import { toolCallsOf } from '../protocol/messages.js';
import type { LoggedEvent } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import type { SessionRecord } from './session-record.js';

/** The run that is being read. */
interface OpenRun {
  turn: number;
  turnOpen: boolean;
  startedMessage: number | undefined;
  readonly ended: number[];
  /** Messages announced in the present turn. */
  turnMessages: number[];
  readonly startedTools: Set<string>;
  readonly endedTools: Set<string>;
  /** Calls wait for a worker of the session's workspace. */
  waitsForWorkspace: boolean;
}

export function eventViolations({ events, messages }: SessionRecord): readonly string[] {
  const violations: string[] = [];
  let run: OpenRun | undefined;
  let previous: number | undefined;
  for (const event of events) {
    if (previous !== undefined && event.seq !== previous + 1) {
      violations.push(`seq ${event.seq} follows ${previous}`);
    }
    previous = event.seq;
    const complain = (text: string) => violations.push(`event ${event.seq} ${event.type}: ${text}`);
    if (event.type === 'agent_start') {
      if (run !== undefined) complain('a run is active already');
      run = openRun();
    } else if (run !== undefined) {
      readEvent(event, run, messages, complain);
      if (event.type === 'agent_end') run = undefined;
    } else if (!outsideRuns.has(event.type)) complain('no run is active');
  }
  if (run !== undefined) violations.push('the last run has no agent_end');
  return violations;
}

/** Events that a session logs while it is idle. */
const outsideRuns: ReadonlySet<LoggedEvent['type']> = new Set(['queued', 'rejected', 'closed']);

function openRun(): OpenRun {
  return {
    turn: 0,
    turnOpen: false,
    startedMessage: undefined,
    ended: [],
    turnMessages: [],
    startedTools: new Set(),
    endedTools: new Set(),
    waitsForWorkspace: false,
  };
}

type Complain = (text: string) => void;

function readEvent(
  event: LoggedEvent,
  run: OpenRun,
  messages: readonly Message[],
  complain: Complain,
): void {
  switch (event.type) {
    case 'turn_start':
      if (run.turnOpen) complain('the turn before it has no turn_end');
      if (event.turn !== run.turn + 1) complain(`turn ${event.turn} follows turn ${run.turn}`);
      run.turn = event.turn;
      run.turnOpen = true;
      run.turnMessages = [];
      return;
    case 'message_start':
      if (run.startedMessage !== undefined) complain(`message ${run.startedMessage} has no end`);
      if (!run.turnOpen) complain('outside a turn');
      run.startedMessage = event.message;
      return;
    case 'message_end':
      readMessageEnd(event.message, run, messages, complain);
      return;
    case 'tool_execution_start':
      readToolStart(event, run, messages, complain);
      return;
    case 'tool_execution_end':
      if (!run.startedTools.has(event.toolCallId)) complain(`${event.toolCallId} has no start`);
      if (run.endedTools.has(event.toolCallId)) complain(`${event.toolCallId} has ended before`);
      run.endedTools.add(event.toolCallId);
      return;
    case 'workspace_wait_start':
      if (run.waitsForWorkspace) complain('the wait before it has no end');
      if (![...run.startedTools].some((id) => isOpen(id, run))) complain('no call is executing');
      run.waitsForWorkspace = true;
      return;
    case 'workspace_wait_end':
      if (!run.waitsForWorkspace) complain('has no start');
      run.waitsForWorkspace = false;
      return;
    case 'turn_end':
      readTurnEnd(event, run, messages, complain);
      return;
    case 'agent_end':
      readAgentEnd(event, run, complain);
      return;
    case 'agent_start':
    case 'approval_requested':
    case 'approval_resolved':
    case 'closed':
    case 'limit_reached':
    case 'queued':
    case 'rejected':
      return;
  }
}

function readMessageEnd(
  index: number,
  run: OpenRun,
  messages: readonly Message[],
  complain: Complain,
): void {
  if (run.startedMessage !== index) complain(`message ${index} has no start`);
  run.startedMessage = undefined;
  run.ended.push(index);
  run.turnMessages.push(index);
  const message = messages[index];
  if (message === undefined) complain(`there is no message ${index}`);
  if (message?.role === 'toolResult' && isOpen(message.toolCallId, run)) {
    complain(`the result of ${message.toolCallId} stands before its tool_execution_end`);
  }
}

function isOpen(toolCallId: string, run: OpenRun): boolean {
  return run.startedTools.has(toolCallId) && !run.endedTools.has(toolCallId);
}

function readToolStart(
  { toolCallId, message: index }: Extract<LoggedEvent, { type: 'tool_execution_start' }>,
  run: OpenRun,
  messages: readonly Message[],
  complain: Complain,
): void {
  if (run.startedTools.has(toolCallId)) complain(`${toolCallId} has started before`);
  run.startedTools.add(toolCallId);
  if (!run.turnMessages.includes(index)) complain(`message ${index} is not announced in this turn`);
  const message = messages[index];
  if (message?.role !== 'assistant' || !toolCallsOf(message).some(({ id }) => id === toolCallId)) {
    complain(`message ${index} has no call ${toolCallId}`);
  } else if (message.stopReason === 'error' || message.stopReason === 'aborted') {
    complain(`${toolCallId} belongs to a message with stopReason ${message.stopReason}`);
  }
}

function readTurnEnd(
  event: Extract<LoggedEvent, { type: 'turn_end' }>,
  run: OpenRun,
  messages: readonly Message[],
  complain: Complain,
): void {
  if (!run.turnOpen || event.turn !== run.turn) complain(`turn ${event.turn} is not open`);
  run.turnOpen = false;
  const inTurn = (role: Message['role']) =>
    run.turnMessages.filter((index) => messages[index]?.role === role);
  const answers = inTurn('assistant');
  if (answers.length > 1) complain('the turn has more than one answer');
  if (answers[0] !== event.message) complain(`names ${event.message}, not ${answers[0]}`);
  if (inTurn('toolResult').join() !== event.toolResults.join()) {
    complain(`names the results ${event.toolResults.join()}, not ${inTurn('toolResult').join()}`);
  }
  for (const id of run.startedTools) if (isOpen(id, run)) complain(`${id} is still executing`);
  if (run.waitsForWorkspace) complain('calls still wait for a worker of their workspace');
}

function readAgentEnd(
  { messages }: Extract<LoggedEvent, { type: 'agent_end' }>,
  run: OpenRun,
  complain: Complain,
): void {
  if (run.turn === 0) complain('the run has no turn');
  if (run.turnOpen) complain('the last turn has no turn_end');
  if (run.startedMessage !== undefined) complain(`message ${run.startedMessage} has no end`);
  const { from, to } = messages;
  const named = Array.from({ length: to - from }, (_, offset) => from + offset);
  if (named.join() !== run.ended.join()) {
    complain(`names the messages ${named.join()}, but ${run.ended.join()} were announced`);
  }
}
