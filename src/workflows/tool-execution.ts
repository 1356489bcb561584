// Executes one prepared tool call and finalizes its result.

import type { AfterToolCallResult, ToolResult } from '../protocol/activities.js';
import type { ExecutableCall, LoopAgent, LoopEffects } from './loop-effects.js';
import { isReadableToolResult } from './readable-results.js';
import {
  abortedBeforeExecutionText,
  abortedResultWithheldText,
  afterToolCallThrewText,
  errorResult,
} from './tool-call-texts.js';

/**
 * The result to record. After an abort the tool is not started; a result that came all the same is kept,
 * unless an `afterToolCall` hook, which may redact, has not seen it.
 */
export async function executeCall(
  executable: ExecutableCall,
  agent: LoopAgent,
  effects: LoopEffects,
): Promise<ToolResult> {
  if (effects.isAborted()) return errorResult(abortedBeforeExecutionText);
  effects.toolCallStatus(executable.call, 'running');
  const result = withContent(await effects.callTool(executable));
  if (!agent.hasAfterToolCall) return result;
  if (effects.isAborted()) return replacing(result, abortedResultWithheldText);

  const outcome = await effects.afterToolCall(executable, result);
  switch (outcome.kind) {
    case 'replaced':
      return withFields(result, outcome.fields);
    case 'threw':
      return replacing(result, afterToolCallThrewText(outcome.errorMessage));
    case 'aborted':
      return replacing(result, abortedResultWithheldText);
  }
}

/** A tool may answer without content; types end where the worker's code begins. */
function withContent(result: ToolResult): ToolResult {
  if (!isReadableToolResult(result)) {
    return errorResult('The result of this call cannot be read; the tool may have run.');
  }
  const content: ToolResult['content'] | undefined = result.content;
  return content === undefined ? { ...(result as ToolResult), content: [] } : result;
}

/** An error in place of the result. What the call cost stays. */
function replacing({ usage, durationMs }: ToolResult, text: string): ToolResult {
  return {
    ...errorResult(text),
    ...(usage !== undefined && { usage }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** The result with fields replaced, one by one. */
export function withFields(result: ToolResult, fields: AfterToolCallResult): ToolResult {
  const { content, details, isError, terminate, usage } = fields;
  return {
    ...result,
    ...(content !== undefined && { content }),
    ...(details !== undefined && { details }),
    ...(isError !== undefined && { isError }),
    ...(terminate !== undefined && { terminate }),
    ...(usage !== undefined && { usage }),
  };
}
