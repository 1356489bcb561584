// The activity that runs one tool call: finds the tool, gives it its arguments and a signal, shows what it
// writes, ends it when it must end, and makes its result fit to leave the worker.
//
// What a tool, a model or a person can cause is a result. Thrown is only what another attempt may make
// good (the worker shuts down, the workflow does not answer) or what leaves the outcome unknown.

import { Context } from '@temporalio/activity';
import type { CallToolInput, ToolResult } from '../protocol/activities.js';
import { isJsonObject } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { LiveView } from '../protocol/live-views.js';
import { defaultWorkspaceName } from '../protocol/session.js';
import { toToolResultMessage } from '../protocol/tool-result-message.js';
import { plainValue } from '../protocol/plain-value.js';
import { ending, interruptedFailure, notRunAgainFailure } from './cancellation.js';
import type { ConversationSource } from './conversation.js';
import type { ToolDefinition, WorkerConfig, Workspace } from './definitions.js';
import { startHeartbeat } from './heartbeat.js';
import type { Heartbeat } from './heartbeat.js';
import { toRedactedFailure } from './secrets.js';
import type { Redactor } from './secrets.js';
import { confirmAttempt, suspensionWatch } from './suspension.js';
import { executeTool } from './tools/execute-tool.js';
import { keepFullText } from './tools/output-file.js';
import { boundResult } from './tools/result-bounds.js';
import { toolEnvironment } from './tools/tool-environment.js';
import { textResult } from './tools/tool-output.js';

const notExecutedText = 'Aborted. This call was not executed.';

export interface CallToolDependencies {
  readonly config: WorkerConfig;
  /** The source bound to the workflow of the present activity. */
  readonly conversation: () => ConversationSource;
  readonly redactor: Redactor;
  /** The worker's environment variables; tools see a part of them. */
  readonly environment: { readonly [name: string]: string | undefined };
}

export function createCallTool(dependencies: CallToolDependencies) {
  const suspension = suspensionWatch();
  return async function callTool(input: CallToolInput): Promise<ToolResult> {
    using heartbeat = startHeartbeat();
    try {
      const source = dependencies.conversation();
      const isDoubtful = suspension.isDoubtful();
      const result = await runCall(input, dependencies, source, { heartbeat, isDoubtful });
      source.remember(toToolResultMessage(input, result));
      // The hook that follows refers to it by digest.
      if (hasAfterToolCall(input, dependencies.config)) source.rememberValue(plainValue(result));
      return result;
    } catch (error) {
      throw toRedactedFailure(error, dependencies.redactor);
    }
  };
}

async function runCall(
  input: CallToolInput,
  { config, redactor, environment }: CallToolDependencies,
  source: ConversationSource,
  { heartbeat, isDoubtful }: { readonly heartbeat: Heartbeat; readonly isDoubtful: boolean },
): Promise<ToolResult> {
  const lookup = lookUp(input, config);
  if (lookup.kind === 'refused') return textResult(redactor.redact(lookup.text), true);
  const { tool, workspace } = lookup;

  const args = await loadArguments(input, source);
  if (args === 'aborted') return textResult(notExecutedText, true);

  const context = Context.current();
  const { attempt } = context.info;
  // The policy gives such a call one attempt, but an activity that is paused and unpaused gets another.
  if (attempt > 1 && !input.retryable) throw notRunAgainFailure();
  const { toolCallId, toolName } = input;
  // Every heartbeat says that the call has begun, also to a workflow that would offer it to another worker.
  const begun: LiveView = {
    kind: 'tool',
    toolCallId,
    toolName,
    attempt,
    output: { offset: 0, tail: '' },
  };
  heartbeat.show(begun);
  await confirmAttempt(context, () => heartbeat.flush(begun), { isDoubtful });
  if (ending(context) === 'abort') return textResult(notExecutedText, true);
  if (ending(context) === 'interrupted') throw interruptedFailure();
  const result = await executeTool({
    tool,
    args,
    input,
    workspace,
    redactor,
    environment: () => toolEnvironment(environment, config.toolEnvironment, redactor),
    maxTimeoutMs: config.maxToolTimeoutMs,
    show: (output) => heartbeat.show({ kind: 'tool', toolCallId, toolName, attempt, output }),
  });
  return boundResult(result, {
    maxResultBytes: input.maxResultBytes,
    maxImageBytes: input.maxImageBytes,
    keepFullText: (text) => keepFullText(text, workspace.root, input.toolCallId),
  });
}

function hasAfterToolCall({ agent }: CallToolInput, { agents }: WorkerConfig): boolean {
  return own(agents, agent)?.hooks.afterToolCall !== undefined;
}

type Lookup =
  | { readonly kind: 'found'; readonly tool: ToolDefinition; readonly workspace: Workspace }
  | { readonly kind: 'refused'; readonly text: string };

/** The config of this worker decides, also where the run was resolved by another or an earlier one. */
function lookUp(input: CallToolInput, config: WorkerConfig): Lookup {
  const whose =
    input.workspace === defaultWorkspaceName
      ? "This worker's config"
      : `The config of the worker that serves the workspace ${input.workspace}`;
  const refused = (text: string): Lookup => ({
    kind: 'refused',
    text: `${text} Nothing was executed.`,
  });
  const agent = own(config.agents, input.agent);
  if (agent === undefined) {
    return refused(`${whose} has no agent named ${input.agent}.`);
  }
  const tool = own(config.tools, input.toolName);
  if (tool === undefined || !agent.tools.includes(input.toolName)) {
    return refused(`${whose} offers the agent ${input.agent} no tool named ${input.toolName}.`);
  }
  if (own(agent.approval, input.toolName) === 'deny') {
    return refused(`The policy of this worker denies the tool ${input.toolName}.`);
  }
  const workspace = own(config.workspaces, input.workspace);
  if (workspace === undefined) {
    return refused(`This worker's config has no workspace named ${input.workspace}.`);
  }
  return { kind: 'found', tool, workspace };
}

/** Names come from outside: `constructor` is not an entry. */
function own<T>(record: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

async function loadArguments(
  input: CallToolInput,
  source: ConversationSource,
): Promise<JsonObject | 'aborted'> {
  const context = Context.current();
  if (ending(context) === 'abort') return 'aborted';
  if (ending(context) === 'interrupted') throw interruptedFailure();
  if ('value' in input.arguments) return input.arguments.value;
  try {
    const value = await source.value(input.arguments.digest, context.cancellationSignal);
    return isJsonObject(value) ? value : {};
  } catch (error) {
    if (ending(context) === 'abort') return 'aborted';
    throw ending(context) === 'interrupted' ? interruptedFailure() : error;
  }
}
