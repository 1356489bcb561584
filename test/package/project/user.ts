// What a user's program may rely on, as types.

import { AgentClient, defineConfig, defineTool } from 'holdfast';
import type { AgentRun, AgentRunResult, AgentSessionResult, UserConfig } from 'holdfast';
import {
  createTestEnvironment,
  findViolations,
  recordSession,
  reply,
  startScriptedModel,
} from 'holdfast/testing';
import type { ScriptedModel } from 'holdfast/testing';
import { NativeConnection, bundleWorkflows, createAgentWorker, loadConfig } from 'holdfast/worker';
import { agent, createAgent, runAgentLoop } from 'holdfast/workflow';
import type { AgentOptions, LoopEffects } from 'holdfast/workflow';
import { z } from 'zod';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

const tool = defineTool({
  name: 'repeat',
  description: 'Repeats a word.',
  parameters: z.object({ word: z.string(), times: z.number().default(2) }),
  execute: (args, { workspace }) => {
    const typed: Same<typeof args, { word: string; times: number }> = true;
    return `${typed} ${args.word.repeat(args.times)} ${workspace.root}`;
  },
});

defineTool({
  name: 'wrong',
  description: 'Uses an argument that it does not have.',
  parameters: z.object({ word: z.string() }),
  // @ts-expect-error there is no such argument
  execute: ({ words }) => words,
});

export const config: UserConfig = defineConfig({
  models: { default: { model: 'gpt-5-mini', clocks: { call: '10 minutes' } } },
  tools: [tool],
});

// @ts-expect-error an unknown field
defineConfig({ tool: [] });

export async function followed(): Promise<AgentRunResult> {
  await using client = await AgentClient.connect({ address: '127.0.0.1:7233' });
  const run: AgentRun = await client.start({ prompt: 'Tidy the changelog' });
  for await (const event of run.events()) {
    if (event.type === 'message_update') process.stdout.write(event.text);
  }
  const session = await client.start({ lifetime: 'session' });
  const ended: AgentSessionResult = await session.result();
  return ended.runs > 0 ? run.result() : run.result();
}

export async function served(): Promise<void> {
  const loaded = await loadConfig();
  const connection = await NativeConnection.connect();
  const bundlePath: string = await bundleWorkflows();
  const worker = await createAgentWorker({ config: loaded.config, connection, bundlePath });
  await worker.run();
}

export async function tested(): Promise<ScriptedModel> {
  await using environment = await createTestEnvironment({ config, script: [reply.text('Hi')] });
  const run = await environment.client.start('Go');
  await run.result();
  const violations: string[] = findViolations(await recordSession(run));
  return startScriptedModel([reply.text(violations.join())]);
}

export async function own(options: AgentOptions): Promise<unknown> {
  return createAgent(options);
}

export const parts: { readonly loop: typeof runAgentLoop; readonly whole: typeof agent } = {
  loop: (start, settings, effects: LoopEffects) => runAgentLoop(start, settings, effects),
  whole: agent,
};
