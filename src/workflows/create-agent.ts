// Agents for workflows of one's own.

import { CancellationScope } from '@temporalio/workflow';
import { parseAgentOptions } from './agent-options.js';
import type { AgentOptions } from './agent-options.js';
import { AgentSession } from './agent-session.js';
import { Agents } from './agents.js';
import { registerHandlers } from './session-handlers.js';
import { invalidInput, WorkflowAgent } from './workflow-agent.js';

/** The agents of this workflow: each workflow has a copy of every module of its own. */
const agents = new Agents();

/**
 * Creates an agent of this workflow. The first one registers Holdfast's signals, queries and update: create
 * it before the workflow first awaits, so that no query finds them missing.
 *
 * @throws InvalidInput (final) naming the option that is wrong, or saying that the name is taken
 */
export function createAgent(options: AgentOptions = {}): WorkflowAgent {
  const parsed = parseAgentOptions(options);
  if ('problem' in parsed) throw invalidInput(`createAgent: ${parsed.problem}`);
  const { input, name, ...own } = parsed.value;
  if (agents.has(name)) {
    throw invalidInput(
      `createAgent: this workflow has an agent named ${name} already; give one of them another \`name\`.`,
    );
  }
  const session = new AgentSession(input, rootScope(), {
    name,
    ...own,
    showDetails: (details) => agents.showDetails(name, details),
  });
  agents.add(name, session);
  if (agents.first === session) {
    // What came with the workflow's start is handed over now, before the code that follows has run: it waits
    // for that, as it may begin a run or `serve`.
    agents.begun = Promise.resolve();
    registerHandlers(agents);
    agents.begun = undefined;
  }
  return new WorkflowAgent(name, session, agents);
}

/** The scope of the workflow as a whole, wherever in it the agent is created. */
function rootScope(): CancellationScope {
  let scope = CancellationScope.current();
  while (scope.parent !== undefined) scope = scope.parent;
  return scope;
}
