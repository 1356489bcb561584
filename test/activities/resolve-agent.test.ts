import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import type { AgentDefinition, WorkerConfig } from '../../src/activities/definitions.js';
import { digestOf } from '../../src/activities/digest.js';
import { createResolveAgent } from '../../src/activities/resolve-agent.js';
import type { ResolveAgentInput } from '../../src/protocol/activities.js';
import type { ResolvedAgent } from '../../src/protocol/agent-definition.js';

const tool = (name: string) => ({
  name,
  description: `Does ${name}`,
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
  execute: () => 'done',
});

const model = (name: string) => ({
  name,
  model: `provider/${name}`,
  provider: 'models.example',
  baseURL: 'https://secret-host.example/v1',
  apiKeyEnv: 'EXAMPLE_KEY',
  quirks: {},
  clocks: { firstTokenMs: 1, silenceMs: 1, callMs: 1 },
});

const agent: AgentDefinition = {
  name: 'default',
  systemPrompt: 'Be brief.',
  allowSystemPrompt: true,
  model: 'small',
  models: ['small', 'large'],
  thinkingLevel: 'low',
  tools: ['bash', 'read', 'edit'],
  approval: { bash: 'ask', edit: 'deny' },
  hooks: { shouldStopAfterTurn: () => false, transformContext: (messages) => messages },
};

const config: WorkerConfig = {
  models: { small: model('small'), large: model('large'), other: model('other') },
  agents: {
    default: agent,
    strict: { ...agent, name: 'strict', allowSystemPrompt: false, tools: ['read'], approval: {} },
  },
  tools: {
    bash: { ...tool('bash'), label: 'Shell', timeoutMs: 5_000 },
    read: { ...tool('read'), effects: 'read-only' },
    edit: { ...tool('edit'), executionMode: 'sequential' },
    write: tool('write'),
  },
  workspaces: { default: { name: 'default', root: '/srv/project' } },
  workspaceWaitMs: 600_000,
  maxToolTimeoutMs: 1,
  cacheBytes: 1,
  shutdownGraceMs: 1,
  toolEnvironment: [],
};

const resolve = createResolveAgent(config);
const input: ResolveAgentInput = {
  agent: 'default',
  workspace: 'default',
  replacesSystemPrompt: false,
};

async function resolved(fields: Partial<ResolveAgentInput> = {}): Promise<ResolvedAgent> {
  const result = await resolve({ ...input, ...fields });
  if (result.kind !== 'resolved') throw new Error('expected a definition');
  return result.agent;
}

describe('resolveAgent', () => {
  test('answers names and texts of the definition, never functions, URLs or names of keys', async () => {
    expect(await resolved()).toEqual({
      name: 'default',
      systemPrompt: 'Be brief.',
      model: 'small',
      models: {
        small: { model: 'provider/small', provider: 'models.example' },
        large: { model: 'provider/large', provider: 'models.example' },
      },
      thinkingLevel: 'low',
      tools: [
        {
          name: 'bash',
          label: 'Shell',
          description: 'Does bash',
          parameters: tool('bash').parameters,
          executionMode: 'parallel',
          effects: 'non-idempotent',
          timeoutMs: 5_000,
          approval: 'ask',
        },
        {
          name: 'read',
          description: 'Does read',
          parameters: tool('read').parameters,
          executionMode: 'parallel',
          effects: 'read-only',
          timeoutMs: 600_000,
          approval: 'allow',
        },
        {
          name: 'edit',
          description: 'Does edit',
          parameters: tool('edit').parameters,
          executionMode: 'sequential',
          effects: 'non-idempotent',
          timeoutMs: 600_000,
          approval: 'deny',
        },
      ],
      hooks: ['transformContext', 'shouldStopAfterTurn'],
    });
  });

  test('lets the input choose a model, a thinking level and tools, kept in the order of the definition', async () => {
    const chosen = await resolved({
      model: 'large',
      thinkingLevel: 'high',
      tools: ['read', 'bash', 'read'],
    });
    expect(chosen.model).toBe('large');
    expect(chosen.thinkingLevel).toBe('high');
    expect(chosen.tools.map(({ name }) => name)).toEqual(['bash', 'read']);
  });

  test('an empty list of tools means no tools', async () => {
    expect((await resolved({ tools: [] })).tools).toEqual([]);
  });

  test('leaves the system prompt out when the input replaces it', async () => {
    expect(await resolved({ replacesSystemPrompt: true })).not.toHaveProperty('systemPrompt');
  });

  test('says only that nothing changed when the recorded definition is the present one', async () => {
    const known = digestOf(await resolved());
    expect(await resolve({ ...input, known })).toEqual({ kind: 'unchanged' });
    expect(await resolve({ ...input, known, tools: ['read'] })).toMatchObject({ kind: 'resolved' });
  });

  test('a named workspace may be served by other workers; the default one must be declared', async () => {
    expect(await resolved({ workspace: 'elsewhere' })).toEqual(await resolved());
    const resolveElsewhere = createResolveAgent({ ...config, workspaces: {} });
    await expect(resolveElsewhere(input)).rejects.toThrow(
      'workspace: "default" is not offered; this worker has none.',
    );
    expect(await resolveElsewhere({ ...input, workspace: 'elsewhere' })).toMatchObject({
      kind: 'resolved',
    });
  });

  test('tells how long to wait for a named workspace where that is not the default', async () => {
    const resolvePatiently = createResolveAgent({ ...config, workspaceWaitMs: 3_600_000 });
    expect(await resolvePatiently({ ...input, workspace: 'gpu' })).toMatchObject({
      agent: { workspaceWaitMs: 3_600_000 },
    });
    expect(await resolvePatiently(input)).toEqual(await resolve(input));
  });

  test.each<[string, Partial<ResolveAgentInput>, string]>([
    [
      'agent',
      { agent: 'nobody' },
      'agent: "nobody" is not offered; this worker has default, strict.',
    ],
    [
      'agent',
      { agent: 'constructor' },
      'agent: "constructor" is not offered; this worker has default, strict.',
    ],
    [
      'model',
      { model: 'other' },
      'model: "other" is not offered; agent "default" offers small, large.',
    ],
    [
      'tools',
      { tools: ['read', 'write'] },
      'tools: "write" is not offered; agent "default" offers bash, read, edit.',
    ],
    [
      'workspace',
      { workspace: '../gpu' },
      'workspace: "../gpu" is no usable name: letters, digits and . _ - only, at most 64.',
    ],
    [
      'mcpServers',
      { mcpServers: ['docs'] },
      'mcpServers: "docs" is not offered; this worker has none.',
    ],
    [
      'thinkingLevel',
      { thinkingLevel: 'enormous' as 'max' },
      'thinkingLevel: "enormous" is not offered; there are off, minimal, low, medium, high, xhigh, max.',
    ],
    [
      'systemPrompt',
      { agent: 'strict', replacesSystemPrompt: true },
      'systemPrompt: agent "strict" does not let it be replaced.',
    ],
  ])(
    'an input whose %s is not offered is a final InvalidInput that says what is: %j',
    async (_, fields, message) => {
      const failure = await resolve({ ...input, ...fields }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure).toMatchObject({ message, type: 'InvalidInput', nonRetryable: true });
    },
  );

  test('a made-up name of any length leaves room for what is offered', async () => {
    const failure = await resolve({ ...input, model: 'x'.repeat(100_000) }).catch(
      (error: unknown) => error,
    );
    expect((failure as Error).message).toMatch(/^model: "x+…" is not offered; .*small, large\.$/);
    expect((failure as Error).message.length).toBeLessThan(2_000);
  });
});
