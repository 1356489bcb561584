// A workflow with nothing but one model call, under the retry policy that the agent's workflow uses.

import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
} from '@temporalio/workflow';
import type {
  AgentActivities,
  CompleteChatInput,
  CompleteChatResult,
} from '../../src/protocol/activities.js';

const { completeChat } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '4 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 1 },
});

export interface ModelCallOutcome {
  readonly result?: CompleteChatResult;
  readonly failure?: { readonly type: string; readonly message: string };
}

export async function modelCall(input: CompleteChatInput): Promise<ModelCallOutcome> {
  try {
    return { result: await completeChat(input) };
  } catch (error) {
    if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure))
      throw error;
    return { failure: { type: error.cause.type ?? '', message: error.cause.message } };
  }
}
