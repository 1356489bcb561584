import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  agentNames,
  ConfigError,
  modelsWithoutKey,
  resolveConfig,
} from '../../src/config/index.js';
import type { UserConfig } from '../../src/config/index.js';

const tool = (name: string) => ({
  name,
  description: `Does ${name}`,
  parameters: { type: 'object' },
  execute: () => 'done',
});
const builtInTools = ['bash', 'read', 'write', 'edit'].map(tool);

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-config-'));
  await writeFile(join(directory, 'a-file'), '');
});
afterAll(() => rm(directory, { recursive: true }));

const resolve = (config: UserConfig, environment: { [name: string]: string } = {}) =>
  resolveConfig(config, { environment, builtInTools, directory });

/** The sentences about a config, in JavaScript or JSON, that types would not have let through. */
function problems(config: unknown, environment?: { [name: string]: string }): readonly string[] {
  try {
    resolve(config as UserConfig, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('resolveConfig without a config file', () => {
  test('has one model from the environment, one agent with the four built-in tools, and the directory', () => {
    const config = resolve({}, { OPENAI_API_KEY: 'sk-x' });
    expect(config.models).toEqual({
      default: {
        name: 'default',
        model: 'gpt-5-mini',
        provider: 'api.openai.com',
        baseURL: 'https://api.openai.com/v1',
        apiKeyEnv: 'OPENAI_API_KEY',
        quirks: { maxTokensField: 'max_completion_tokens' },
        clocks: { firstTokenMs: 120_000, silenceMs: 60_000, callMs: 1_200_000 },
      },
    });
    expect(config.agents).toEqual({
      default: {
        name: 'default',
        systemPrompt: expect.stringMatching(/^You are an agent/),
        allowSystemPrompt: true,
        model: 'default',
        models: ['default'],
        tools: ['bash', 'read', 'write', 'edit'],
        approval: {},
        hooks: {},
      },
    });
    expect(agentNames(config)).toEqual(['default']);
    expect(Object.keys(config.tools)).toEqual(['bash', 'read', 'write', 'edit']);
    expect(config.workspaces).toEqual({ default: { name: 'default', root: directory } });
    expect(config).toMatchObject({
      taskQueue: 'holdfast',
      maxToolTimeoutMs: 3_600_000,
      cacheBytes: 268_435_456,
      shutdownGraceMs: 30_000,
      workspaceWaitMs: 600_000,
      toolEnvironment: [],
    });
  });

  test('takes model and address from HOLDFAST_MODEL and OPENAI_BASE_URL, and no key where there is none', () => {
    const { models } = resolve(
      {},
      { HOLDFAST_MODEL: 'qwen3', OPENAI_BASE_URL: 'http://localhost:11434/v1' },
    );
    expect(models['default']).toMatchObject({
      model: 'qwen3',
      provider: 'localhost:11434',
      baseURL: 'http://localhost:11434/v1',
      quirks: {},
    });
    expect(models['default']).not.toHaveProperty('apiKeyEnv');
  });

  test('an OPENAI_BASE_URL that is no URL is an error that names the variable', () => {
    expect(problems({}, { OPENAI_BASE_URL: 'localhost' })).toEqual([
      'models.default takes its address from OPENAI_BASE_URL, which is no http or https URL; correct or unset that variable.',
    ]);
  });
});

describe('resolveConfig', () => {
  test('fills a model with what it does not say', () => {
    const { models } = resolve(
      {
        models: {
          small: { model: 'gpt-5-mini' },
          other: {
            model: 'local',
            baseURL: 'https://models.example/v1',
            provider: 'Example',
            headersEnv: { 'X-Team': 'TEAM_TOKEN' },
            maxOutputTokens: 4_096,
            temperature: 0,
            extraBody: { top_p: 0.9 },
            prices: { input: 1, output: 2, cacheRead: 0.1 },
            quirks: { thinkTags: true },
            clocks: { firstToken: '5 minutes', silence: 500, call: '10m' },
          },
        },
      },
      { OPENAI_API_KEY: 'sk-x' },
    );
    expect(models['small']).toMatchObject({ name: 'small', apiKeyEnv: 'OPENAI_API_KEY' });
    expect(models['other']).toEqual({
      name: 'other',
      model: 'local',
      baseURL: 'https://models.example/v1',
      provider: 'Example',
      headersEnv: { 'X-Team': 'TEAM_TOKEN' },
      maxOutputTokens: 4_096,
      temperature: 0,
      extraBody: { top_p: 0.9 },
      prices: { input: 1, output: 2, cacheRead: 0.1 },
      quirks: { thinkTags: true },
      clocks: { firstTokenMs: 300_000, silenceMs: 500, callMs: 600_000 },
    });
  });

  test('a model with an address of its own is never sent the key of another provider', () => {
    const { models } = resolve(
      { models: { default: { model: 'x', baseURL: 'https://models.example/v1' } } },
      { OPENAI_API_KEY: 'sk-x' },
    );
    expect(models['default']).not.toHaveProperty('apiKeyEnv');
  });

  test('quirks that are configured win over those known of a provider', () => {
    const { models } = resolve({
      models: { default: { model: 'x', quirks: { maxTokensField: 'max_tokens' } } },
    });
    expect(models['default']?.quirks).toEqual({ maxTokensField: 'max_tokens' });
  });

  test('an agent offers every model and every tool unless it lists some', () => {
    const { agents } = resolve({
      models: { large: { model: 'l' }, default: { model: 'd' }, tiny: { model: 't' } },
      tools: [tool('deploy')],
      agents: { all: {}, some: { models: ['tiny', 'large'], tools: ['read', 'deploy'] } },
    });
    expect(agents['all']).toMatchObject({
      model: 'default',
      models: ['large', 'default', 'tiny'],
      tools: ['bash', 'read', 'write', 'edit', 'deploy'],
    });
    expect(agents['some']).toMatchObject({
      model: 'tiny',
      models: ['tiny', 'large'],
      tools: ['read', 'deploy'],
    });
  });

  test('keeps everything else an agent says', () => {
    const beforeToolCall = () => {};
    const { agents } = resolve({
      agents: {
        default: {
          systemPrompt: 'Be brief.',
          allowSystemPrompt: false,
          thinkingLevel: 'high',
          approval: { bash: 'ask', write: 'deny' },
          hooks: { beforeToolCall },
        },
      },
    });
    expect(agents['default']).toMatchObject({
      systemPrompt: 'Be brief.',
      allowSystemPrompt: false,
      thinkingLevel: 'high',
      approval: { bash: 'ask', write: 'deny' },
      hooks: { beforeToolCall },
    });
  });

  test('roots of workspaces are absolute, from the directory of the config', () => {
    expect(
      resolve({ workspaces: { default: { root: '.' }, temporary: { root: tmpdir() } } }).workspaces,
    ).toEqual({
      default: { name: 'default', root: directory },
      temporary: { name: 'temporary', root: tmpdir() },
    });
  });

  test('takes durations as texts and as milliseconds', () => {
    expect(
      resolve({
        maxToolTimeout: '2 hours',
        shutdownGrace: 1_500,
        workspaceWait: '1 hour',
        cacheBytes: 10,
        taskQueue: 'agents',
        toolEnvironment: ['JAVA_HOME'],
      }),
    ).toMatchObject({
      maxToolTimeoutMs: 7_200_000,
      shutdownGraceMs: 1_500,
      workspaceWaitMs: 3_600_000,
      cacheBytes: 10,
      taskQueue: 'agents',
      toolEnvironment: ['JAVA_HOME'],
    });
  });

  test('names the models whose key is in no variable', () => {
    const config = resolve({
      models: {
        default: { model: 'd' },
        other: { model: 'o', baseURL: 'http://x.example', headersEnv: { 'X-Key': 'OTHER' } },
        open: { model: 'o', baseURL: 'http://x.example' },
      },
    });
    expect(modelsWithoutKey(config, { OTHER: '' })).toEqual([
      { model: 'default', variable: 'OPENAI_API_KEY' },
      { model: 'other', variable: 'OTHER' },
    ]);
    expect(modelsWithoutKey(config, { OTHER: 'x', OPENAI_API_KEY: 'y' })).toEqual([]);
  });

  test.each<[unknown, string]>([
    [[], 'The config must be an object, not a list.'],
    [
      { model: {} },
      'The config has the unknown field "model"; there are $schema, models, agents, tools, mcpServers, workspaces, workspaceWait, taskQueue, maxToolTimeout, cacheBytes, shutdownGrace, toolEnvironment, workflows, activities.',
    ],
    [{ models: { default: {} } }, 'models.default.model is missing: add it, it must be a string.'],
    [{ models: { default: { model: 5 } } }, 'models.default.model must be a string, not a number.'],
    [{ models: { default: 'gpt' } }, 'models.default must be an object, not a string.'],
    [
      { models: { 'a b': { model: 'x' } } },
      'models["a b"] is no usable name: letters, digits and . : / @ _ - only, at most 100.',
    ],
    [
      { models: { default: { model: 'x', baseURL: 'example.com' } } },
      'models.default.baseURL must be an http or https URL without user or password, such as "https://api.openai.com/v1".',
    ],
    [
      { models: { default: { model: 'x', clocks: { call: 'soon' } } } },
      'models.default.clocks.call must be a duration above 0: milliseconds, or a text such as "10 minutes".',
    ],
    [
      { models: { default: { model: 'x', clocks: { call: '1 hour' } } } },
      'models.default.clocks.call must be at most 20 minutes.',
    ],
    [
      { models: { default: { model: 'x', quirks: { systemRole: 'boss' } } } },
      'models.default.quirks.systemRole must be one of "system", "developer".',
    ],
    [
      { models: { default: { model: 'x', prices: { input: -1, output: 1 } } } },
      'models.default.prices.input must not be negative.',
    ],
    [
      { agents: { default: { tools: ['bsh'] } } },
      'agents.default.tools names "bsh", which does not exist: tools are bash, read, write, edit; correct the name or define it.',
    ],
    [
      { agents: { default: { tools: ['read', 'read'] } } },
      'agents.default.tools names "read" twice; remove one.',
    ],
    [
      { agents: { default: { models: ['large'] } } },
      'agents.default.models names "large", which does not exist: models are default; correct the name or define it.',
    ],
    [
      { agents: { default: { model: 'large' } } },
      'agents.default.model names "large", which does not exist: this agent offers default; correct the name or define it.',
    ],
    [
      { agents: { default: { tools: ['read'], approval: { bash: 'ask' } } } },
      'agents.default.approval names "bash", which does not exist: this agent has read; correct the name or define it.',
    ],
    [
      { agents: { default: { approval: { bash: 'maybe' } } } },
      'agents.default.approval.bash must be one of "allow", "ask", "deny".',
    ],
    [
      { agents: { default: { thinkingLevel: 'deep' } } },
      'agents.default.thinkingLevel must be one of "off", "minimal", "low", "medium", "high", "xhigh", "max".',
    ],
    [
      { agents: { default: { hooks: { beforeToolCall: 'x' } } } },
      'agents.default.hooks.beforeToolCall must be a function; only a .ts, .js or .mjs config can have one.',
    ],
    [
      { agents: { default: { hooks: { beforeCall: () => {} } } } },
      'agents.default.hooks has the unknown field "beforeCall"; there are transformContext, convertToLlm, getApiKey, beforeToolCall, afterToolCall, prepareNextTurn, shouldStopAfterTurn.',
    ],
    [
      { tools: [tool('my tool')] },
      'tools[0].name is no usable name: letters, digits, _ and - only, at most 64, as providers ask for.',
    ],
    [
      { tools: [tool('bash')] },
      'tools[0].name: there is a tool bash already (built-in ones are bash, read, write, edit); choose another name.',
    ],
    [
      { tools: [{ ...tool('x'), parameters: { type: 'string' } }] },
      'tools[0].parameters must be the JSON schema of an object: add type: "object".',
    ],
    [
      { tools: [{ ...tool('x'), parameters: z.object({}) }] },
      'tools[0].parameters must be JSON schema; with a zod schema, wrap the tool in defineTool.',
    ],
    [
      { tools: [{ ...tool('x'), execute: undefined }] },
      'tools[0].execute must be a function; only a .ts, .js or .mjs config can have one.',
    ],
    [
      { mcpServers: { docs: { url: 'https://docs.example' } } },
      'mcpServers cannot be used: this version of Holdfast has no MCP servers; remove the field.',
    ],
    [
      { workspaces: { 'a/b': { root: '.' } } },
      'workspaces["a/b"] is no usable name: letters, digits and . _ - only, at most 64.',
    ],
    [
      { shutdownGrace: true },
      'shutdownGrace must be a duration: milliseconds, or a text such as "10 minutes".',
    ],
    [{ cacheBytes: 1.5 }, 'cacheBytes must be a whole number.'],
    [
      { toolEnvironment: ['NOT A NAME'] },
      'toolEnvironment[0] must be the name of an environment variable, such as "OPENAI_API_KEY"; put the secret into that variable, never into the config.',
    ],
    [
      { activities: { callTool: () => 'x' } },
      'activities.callTool: Holdfast has an activity of this name; give yours another.',
    ],
    [
      { activities: { publish: 'x' } },
      'activities.publish must be a function; only a .ts, .js or .mjs config can have one.',
    ],
  ])('refuses %j in a sentence', (config, sentence) => {
    expect(problems(config)).toEqual([sentence]);
  });

  test('the file of own workflows is found from the folder of the config; one that is not there is refused', () => {
    expect(resolve({ workflows: './a-file' }).workflows).toBe(join(directory, 'a-file'));
    expect(problems({ workflows: 'missing.ts' })).toEqual([
      `workflows: there is no file ${join(directory, 'missing.ts')}; correct the path.`,
    ]);
  });

  test('a workspace that is no directory is refused with its path', () => {
    for (const root of ['missing', 'a-file']) {
      expect(problems({ workspaces: { default: { root } } })).toEqual([
        `workspaces.default.root is ${join(directory, root)}, which is no directory; create it or correct the path.`,
      ]);
    }
  });

  test('an empty mcpServers is no error', () => {
    expect(problems({ mcpServers: {} })).toEqual([]);
  });

  test.each<[unknown, string]>([
    [{ apiKey: 'sk-12345678901234567890' }, 'models.default.apiKey is not allowed'],
    [{ api_key: '12345' }, 'models.default.api_key is not allowed'],
    [
      { extraBody: { deep: [{ token: 'abc' }] } },
      'models.default.extraBody.deep[0].token is not allowed',
    ],
    [{ headers: { Authorization: 'Bearer abc' } }, 'models.default.headers is not allowed'],
    [{ apiKeyEnv: 'sk-12345678901234567890' }, 'models.default.apiKeyEnv looks like a secret'],
    [{ headersEnv: { Authorization: 'Bearer abc' } }, 'models.default.headersEnv.Authorization'],
    [{ baseURL: 'https://user:hunter2@models.example' }, 'models.default.baseURL must be'],
  ])('a secret written into a model is refused and not repeated: %j', (fields, start) => {
    const config = { models: { default: { model: 'x', ...(fields as object) } } };
    const [problem, ...others] = problems(config);
    expect(problem?.startsWith(start)).toBe(true);
    expect(others).toEqual([]);
    expect(problem).not.toMatch(/123456|hunter2|abc/);
    expect(problem).toMatch(/environment variable|without user or password/);
  });

  test('reports all problems at once, and the file they are in', () => {
    const config = { agents: { default: { tools: ['a'], models: ['b'] } } };
    const options = { environment: {}, builtInTools, directory, file: 'holdfast.config.json' };
    expect(() => resolveConfig(config, options)).toThrow(
      /^holdfast\.config\.json cannot be used:\n {2}- agents\.default\.models .*\n {2}- agents\.default\.tools .*/,
    );
  });
});
