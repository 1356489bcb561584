// The activities of a worker, made from its config. What a model call, tool or hook needs of the
// conversation comes from one cache per worker and from the workflow it belongs to.

import { Context } from '@temporalio/activity';
import type { AgentActivities } from '../protocol/activities.js';
import { createCallTool } from './call-tool.js';
import { createCompleteChat } from './complete-chat.js';
import { ContentCache } from './content-cache.js';
import { createConversationSource } from './conversation-source.js';
import type { WorkerConfig } from './definitions.js';
import { createResolveAgent } from './resolve-agent.js';
import { createRedactor, registerConfiguredSecrets } from './secrets.js';
import { createHooks } from './tool-hooks.js';
import { withWellFormedFailures } from './well-formed-failures.js';
import { queriesOfPresentWorkflow } from './workflow-queries.js';

export interface ActivityDependencies {
  readonly config: WorkerConfig;
  /** The worker's environment variables. */
  readonly environment: { readonly [name: string]: string | undefined };
}

export function createActivities({ config, environment }: ActivityDependencies): AgentActivities {
  const cache = new ContentCache(config.cacheBytes);
  const redactor = createRedactor();
  registerConfiguredSecrets(redactor, config, environment);
  const conversation = () =>
    createConversationSource(cache, queriesOfPresentWorkflow(Context.current().client));
  const resolveAgent = createResolveAgent(config);

  return withWellFormedFailures({
    async resolveAgent(input) {
      const result = await resolveAgent(input);
      if (result.kind === 'resolved') {
        // The model call that follows refers to these by digest.
        cache.put(result.agent.tools);
        if (result.agent.systemPrompt !== undefined) cache.put(result.agent.systemPrompt);
      }
      return result;
    },
    completeChat: createCompleteChat({
      config,
      conversation,
      redactor,
      environment: (name) => environment[name],
    }),
    callTool: createCallTool({ config, conversation, redactor, environment }),
    reachWorkspace: () => Promise.resolve(),
    ...createHooks({ config, conversation, redactor }),
  });
}
