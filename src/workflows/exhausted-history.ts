// Whether the history nears what the server allows: past it, the server terminates the workflow.

import { workflowInfo } from '@temporalio/workflow';
import { historyLimits } from '../protocol/limits.js';

/** The limit that was passed. Events and bytes are those at the start of the present Workflow Task. */
export function exhaustedHistory(): { readonly limit: string; readonly value: number } | undefined {
  const { historyLength, historySize } = workflowInfo();
  if (historyLength > historyLimits.maxEvents) {
    return { limit: 'historyEvents', value: historyLimits.maxEvents };
  }
  if (historySize > historyLimits.maxBytes) {
    return { limit: 'historyBytes', value: historyLimits.maxBytes };
  }
  return undefined;
}
