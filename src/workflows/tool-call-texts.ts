// What the model reads where a call was answered without its tool's own result. Each text says whether
// anything was executed, because that decides what the model may safely do next.

import type { ToolResult } from '../protocol/activities.js';
import { toDurationText } from '../protocol/duration.js';

export function errorResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/**
 * A call in an answer that the output limit cut off. The advice gets narrower when it happens again:
 * a model that is told the same thing sends the same thing.
 */
export function cutOffText(consecutive: number): string {
  const fact =
    'The answer reached the output limit and was cut off, so the arguments of this call may be incomplete. Nothing was executed.';
  if (consecutive <= 1) {
    return `${fact} Ask again in smaller pieces: fewer calls in one answer and shorter arguments.`;
  }
  return (
    `${fact} This is the ${consecutive}th answer in a row that was cut off: do not send the same call again. ` +
    'Make a single call with only the first small part (a few dozen lines), wait for its result, and add the rest part by part.'
  );
}

export const abortedBeforeExecutionText = 'Aborted. This call was not executed.';

/** The tool ran, but the hook that may redact its result never saw it. */
export const abortedResultWithheldText =
  'Aborted. This call was executed, wholly or in part; its result was not recorded because the run was aborted before it could be reviewed.';

export function blockedText(reason: string | undefined): string {
  return reason === undefined || reason === '' ? 'This call was blocked and not executed.' : reason;
}

export function beforeToolCallThrewText(errorMessage: string): string {
  return `This call was not executed, because the check before it failed: ${errorMessage}`;
}

export function afterToolCallThrewText(errorMessage: string): string {
  return `This call was executed, but handling its result failed: ${errorMessage}`;
}

export function deniedByPolicyText(toolName: string): string {
  return `The policy of this agent denies the tool ${toolName}. This call was not executed.`;
}

export function deniedText(reason: string | undefined): string {
  const fact = 'This call was denied and not executed.';
  return reason === undefined || reason === '' ? fact : `${fact} Reason: ${reason}`;
}

export function unknownToolText(toolName: string, known: readonly string[]): string {
  const names = known.length === 0 ? 'There are no tools.' : `Known tools: ${known.join(', ')}.`;
  return `There is no tool named ${toolName}. ${names} Nothing was executed.`;
}

/** The model's answer came without a preparation for this call. */
export const unpreparedText = 'This call could not be prepared and was not executed.';

/** Proven: no attempt of the call was ever begun. */
export function workspaceNotServedText(workspace: string, waitMs: number): string {
  return `Nothing was executed: ${nobodyTook(workspace, waitMs)}`;
}

/** Only of a call that may run again. */
export function lostWithWorkspaceText(workspace: string, waitMs: number): string {
  return `This call was begun, wholly or in part, and its result was lost with its worker: since then ${nobodyTook(workspace, waitMs)}`;
}

function nobodyTook(workspace: string, waitMs: number): string {
  return (
    `no worker of the workspace "${workspace}" took the call within ${toDurationText(waitMs)}. ` +
    'Its files are out of reach until such a worker runs.'
  );
}

export const abortedAfterLostAttemptText =
  'Aborted. An attempt of this call was lost with its worker; it may have been executed, wholly or in part.';
