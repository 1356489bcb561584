// Workflows as users write them, for own-workflows.workflow.test.ts: in Temporal's sandbox, with nothing but
// `holdfast/workflow` and Temporal's workflow API.

import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import { ApplicationFailure } from '@temporalio/workflow';
import { createAgent } from 'holdfast/workflow';
import type { AgentOptions, AgentRunReport, WorkflowAgent } from 'holdfast/workflow';

export const publishSignal = defineSignal<[{ by: string }]>('publish');
export const allowSignal = defineSignal<[string]>('allow');
export const goSignal = defineSignal('go');
export const seenQuery = defineQuery<readonly string[]>('seen');

const { lookUp, publish } = proxyActivities<{
  lookUp(name: string): Promise<string>;
  publish(notes: { readonly text: string; readonly by: string }): Promise<string>;
}>({ startToCloseTimeout: '1 minute', retry: { maximumAttempts: 1 } });

/** Two agents, one after the other, and a person's word before the end. */
export async function releaseNotes({ version }: { readonly version: string }) {
  const writer = createAgent({ agent: 'writer' });
  const reviewer = createAgent({ agent: 'reviewer' });
  let publisher: string | undefined;
  setHandler(publishSignal, ({ by }) => {
    publisher = by;
  });

  const draft = await writer.run(`Write release notes for ${version}`);
  const text = draft.response?.content ?? '';
  const verdict = await reviewer.run(['Review this', text]);
  await condition(() => publisher !== undefined);
  const place = await publish({ text, by: publisher ?? '' });
  return { draft, verdict, place, undelivered: writer.close() };
}

/** Two agents at the same time. */
export async function pair() {
  const agents = ['writer', 'reviewer'].map((agent) => createAgent({ agent }));
  const [writer, reviewer] = await Promise.all(agents.map((agent) => agent.run('Go')));
  return { writer, reviewer };
}

/** An agent whose hook asks another one before each tool call. */
export async function consulting() {
  const reviewer = createAgent({ agent: 'reviewer' });
  const writer = createAgent({
    agent: 'writer',
    hooks: {
      beforeToolCall: async ({ toolCall }) => {
        await reviewer.run(`May ${toolCall.name} run?`);
      },
    },
  });
  const { stopReason } = await writer.run('Go');
  return { stopReason, reviewer: reviewer.state().status };
}

/** An agent whose hooks are functions of the workflow, named as the test says. */
export async function guarded(names: readonly string[], options: AgentOptions = {}) {
  const seen: string[] = [];
  const allowed = new Set<string>();
  setHandler(allowSignal, (toolCallId) => {
    allowed.add(toolCallId);
  });
  setHandler(seenQuery, () => seen);
  const hooks = {
    beforeToolCall: {
      /** Waits for a signal of ours, as long as it takes. */
      waits: async ({ toolCall }) => {
        seen.push(`before ${toolCall.id}`);
        await condition(() => allowed.has(toolCall.id));
      },
      blocks: ({ toolCall, messages }) => ({
        block: true,
        reason: `${toolCall.name} is not for turn ${messages.length}`,
      }),
      /** Asks an activity. */
      replaces: async ({ args }) => ({
        arguments: { text: await lookUp(args['text'] as string) },
      }),
      throws: () => {
        throw new Error('cannot check');
      },
      fails: async () => {
        await lookUp('nobody');
      },
      returnsNonsense: () => ({ block: 'yes' }) as never,
      mutates: ({ messages }) => {
        (messages as unknown[]).length = 0;
      },
    },
    afterToolCall: {
      redacts: ({ result, agent, turn }) => {
        const [block] = result.content;
        seen.push(`after ${block?.type === 'text' ? block.text : ''}`);
        return { content: [{ type: 'text', text: `reviewed by ${agent} in turn ${turn}` }] };
      },
      hangs: async () => {
        seen.push('after hangs');
        await CancellationScope.nonCancellable(() => sleep('1 hour'));
      },
      stops: () => ({ terminate: true, details: { at: new Date(0), left: undefined } as never }),
    },
    prepareNextTurn: {
      changes: ({ turn, systemPrompt, model }) => {
        seen.push(`prepare ${turn} ${systemPrompt ?? ''} ${model}`);
        return { systemPrompt: 'Changed by the workflow.', dropBefore: 1 };
      },
      throws: () => {
        throw new Error('no next turn');
      },
      throwsNoError: () => {
        // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- what users' code may do
        throw Object.create(null) as object;
      },
      namesNoModel: () => ({ model: 'gpt-none' }),
    },
    shouldStopAfterTurn: {
      stops: async ({ messages, transcript, systemPrompt }) => {
        await sleep(1);
        seen.push(`stop ${messages.length} of ${transcript.length}, ${systemPrompt ?? ''}`);
        return true;
      },
    },
  } satisfies {
    readonly [Name in keyof NonNullable<AgentOptions['hooks']>]: {
      readonly [name: string]: NonNullable<AgentOptions['hooks']>[Name];
    };
  };
  const chosen = Object.entries(hooks).flatMap(([hook, variants]) =>
    Object.entries(variants)
      .filter(([name]) => names.includes(`${hook} ${name}`))
      .map(([, variant]) => [hook, variant]),
  );
  const agent = createAgent({ ...options, hooks: Object.fromEntries(chosen) as object });
  const report = await agent.run('Go');
  return { report, seen };
}

/** Serves an agent, then runs it by itself. */
export async function servedThenRun() {
  const agent = createAgent({ name: 'helper', limits: { maxTurns: 3 } });
  const first = await agent.serve();
  const second = await agent.serve({ idleTimeout: 50 });
  const report = await agent.run('Sum up');
  return { first, second, report };
}

/** Runs in a scope that a signal cancels, and once more after that. */
export async function scoped() {
  const agent = createAgent();
  const other = createAgent({ name: 'other' });
  const scope = new CancellationScope();
  setHandler(goSignal, () => scope.cancel());
  const told = await scope.run(async () => {
    try {
      await agent.run('Go');
      return 'it ran';
    } catch (error) {
      return isCancellation(error) ? 'cancelled' : `failed: ${String(error)}`;
    }
  });
  const inCancelled = await scope.run(() => outcomeOf(() => other.run('Never')));
  const report = await agent.run('Again');
  return { told, inCancelled, report };
}

/** What becomes of what must not be asked for. */
export async function misuses() {
  const agent = createAgent({ agent: 'writer' });
  const outcomes = [
    await outcomeOf(() => createAgent({ agent: 'writer' })),
    await outcomeOf(() => createAgent({ prompt: 'Go' } as AgentOptions)),
    await outcomeOf(() => createAgent({ name: 'no name at all' })),
    await outcomeOf(() => createAgent({ name: 'x', hooks: { beforeToolCal: () => {} } as object })),
    await outcomeOf(() => agent.run('')),
    await outcomeOf(() => agent.continue()),
    await outcomeOf(() => agent.serve({ idleTimeout: 'soon' })),
    await outcomeOf(() => agent.steer({ text: '' })),
  ];
  const running = agent.run('Go');
  outcomes.push(
    await outcomeOf(() => agent.run('Again')),
    await outcomeOf(() => agent.continue()),
    await outcomeOf(() => agent.serve()),
    await outcomeOf(() => agent.close()),
  );
  await running;
  agent.followUp('Left over');
  const undelivered = agent.close();
  outcomes.push(
    await outcomeOf(() => agent.run('Too late')),
    await outcomeOf(() => agent.steer('Too late')),
  );
  await condition(() => false, '2 seconds');
  return { outcomes, undelivered, left: agent.state().undelivered };
}

/** A run that fails, and what can be done afterwards. */
export async function failing() {
  const agent = createAgent();
  agent.followUp('And this');
  const failure = await outcomeOf(() => agent.run('Go'));
  const { lastError } = agent.state();
  const report = await agent.run('Once more');
  return { failure, lastError, report, messages: agent.messages.length };
}

/** Takes what people send to two agents, between two runs of each. */
export async function addressed() {
  const agents = [createAgent({ agent: 'writer' }), createAgent({ agent: 'reviewer' })];
  let mayGoOn = false;
  setHandler(goSignal, () => {
    mayGoOn = true;
  });
  const reports: AgentRunReport[] = [];
  const runAll = async (runs: readonly WorkflowAgent[]) => {
    reports.push(...(await Promise.all(runs.map((agent) => agent.run('Go')))));
  };
  await runAll(agents);
  await condition(() => mayGoOn);
  await runAll(agents);
  return reports.map(({ stopReason, abortReason }) => ({ stopReason, abortReason }));
}

async function outcomeOf(action: () => unknown): Promise<string> {
  try {
    await action();
    return 'fine';
  } catch (error) {
    if (isCancellation(error)) return 'cancelled';
    if (error instanceof ApplicationFailure) return `${error.type ?? ''}: ${error.message}`;
    return `unexpected: ${String(error)}`;
  }
}
