// What holds of the deployment itself at the end, beside what the demo checks of the run.

import type { AgentClient } from '../../src/client/index.js';
import type { Check } from '../../src/demo/checks.js';
import { crewSize } from './crew.js';
import type { Stack } from './stack.js';

export interface DeploymentFacts {
  readonly client: AgentClient;
  readonly workflowId: string;
  readonly stack: Stack;
}

export async function deploymentChecks(facts: DeploymentFacts): Promise<readonly Check[]> {
  const { client, workflowId, stack } = facts;
  const handle = client.temporal.workflow.getHandle(workflowId);
  const [{ events }, alive] = await Promise.all([handle.fetchHistory(), stack.crew.alive()]);
  const failed = (events ?? []).filter(
    ({ workflowTaskFailedEventAttributes: failure }) => failure != null,
  );
  return [
    {
      claim: 'No worker gave up while something was away',
      verdict: alive === crewSize ? 'holds' : 'broken',
      figure: `${alive} of ${crewSize} poll`,
    },
    {
      claim: 'No workflow task failed',
      verdict: failed.length === 0 ? 'holds' : 'broken',
      figure: `${failed.length} of ${events?.length ?? 0} history events`,
    },
  ];
}
