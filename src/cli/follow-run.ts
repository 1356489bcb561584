// Follows a session on the terminal and says how it ended, as an exit code.

import { AgentRunError, isLoggedEvent } from '../client/index.js';
import type { AgentRun, FollowedEvent } from '../client/index.js';
import type { AgentResult } from '../client/index.js';
import type { AgentRunResult } from '../protocol/session.js';
import { toErrorSentence } from './error-sentence.js';
import { EventPrinter } from './event-printer.js';
import type { Terminal } from './terminal.js';
import { toPlainText } from './text.js';

export const exitCodes = { answered: 0, failed: 1, aborted: 130 } as const;

export interface FollowRunOptions {
  readonly json: boolean;
  /** Stop at the end of the present agent run instead of the end of the session. */
  readonly untilAgentEnd: boolean;
  readonly after?: number;
  readonly toolOutput?: boolean;
}

/** Prints events until the run, or the session, has ended. */
export async function followRun(
  run: AgentRun<AgentResult>,
  terminal: Terminal,
  { json, untilAgentEnd, after = 0, toolOutput = false }: FollowRunOptions,
): Promise<number> {
  const printer = new EventPrinter({
    workflowId: run.workflowId,
    agent: run.agent,
    columns: () => terminal.columns,
    colours: terminal.colours,
    toolOutput,
  });
  let exitCode: number = exitCodes.answered;
  for await (const event of run.events({ after })) {
    if (json) terminal.write(`${JSON.stringify(event)}\n`);
    else print(event, printer, terminal);
    if (event.type === 'agent_end') {
      exitCode = exitCodeOf(event.stopReason);
      if (untilAgentEnd) break;
    }
    if (event.type === 'ended') {
      exitCode = await exitCodeOfEnd(run, event, { json, exitCode }, terminal);
    }
  }
  if (!json) terminal.write(printer.finish());
  return exitCode;
}

/** Notices about the following go to standard error, so that the answer can be piped. */
function print(event: FollowedEvent, printer: EventPrinter, terminal: Terminal): void {
  const isNotice =
    !isLoggedEvent(event) &&
    (event.type === 'unreachable' ||
      event.type === 'reachable' ||
      event.type === 'lost' ||
      event.type === 'retry');
  if (!isNotice) {
    terminal.write(printer.print(event));
    return;
  }
  if (terminal.isTty) terminal.write(printer.finish());
  terminal.note(printer.print(event).trimEnd());
}

/** A session, and a workflow of one's own, complete with something else. */
function isRunResult(result: unknown): result is AgentRunResult {
  return typeof result === 'object' && result !== null && 'stopReason' in result;
}

export function exitCodeOf(stopReason: string): number {
  if (stopReason === 'aborted') return exitCodes.aborted;
  return stopReason === 'error' || stopReason === 'limit' ? exitCodes.failed : exitCodes.answered;
}

async function exitCodeOfEnd(
  run: AgentRun<AgentResult>,
  { status, complete }: FollowedEvent & { readonly type: 'ended' },
  { json, exitCode }: { readonly json: boolean; readonly exitCode: number },
  terminal: Terminal,
): Promise<number> {
  try {
    const result: unknown = await run.result();
    if (!isRunResult(result)) return exitCode;
    if (!complete && !json) {
      terminal.note('The last events could not be read, as no worker answers. The answer:');
      terminal.write(`${toPlainText(result.response?.content ?? '')}\n`);
    }
    return exitCodeOf(result.stopReason);
  } catch (error) {
    if (!(error instanceof AgentRunError)) throw error;
    if (status === 'canceled') return exitCodes.aborted;
    // What made the run fail stands in its events.
    const wasPrinted = complete && (error.kind === 'model' || error.kind === 'hook');
    if (!wasPrinted) terminal.note(`holdfast: ${toErrorSentence(error)}`);
    return exitCodes.failed;
  }
}
