// A workflow of the user's own around an agent.

import { createAgent } from 'holdfast/workflow';
import type { AgentRunReport } from 'holdfast/workflow';

export async function shout(prompt: string): Promise<string> {
  const agent = createAgent();
  const report: AgentRunReport = await agent.run(prompt);
  agent.close();
  return String(report.response?.content).toUpperCase();
}
