import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.js';
import { AgentClient } from '../../src/index.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-load-'));
});
afterEach(() => rm(directory, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(directory, name), text);
const load = (path?: string) => loadConfig(path, { directory, environment: {} });

const typescript = `
import { defineConfig, defineTool } from 'holdfast';
const prompt: string = 'From TypeScript';
const deploy = defineTool({
  name: 'deploy', description: 'Deploys', parameters: { type: 'object' } satisfies object,
  execute: () => 'deployed',
});
export default defineConfig({
  agents: { default: { systemPrompt: prompt, hooks: { shouldStopAfterTurn: () => true } } },
  tools: [deploy],
});
`;

describe('loadConfig', () => {
  test('without a file the defaults hold, with the built-in tools and the working directory', async () => {
    const { config, file } = await load();
    expect(file).toBeUndefined();
    expect(Object.keys(config.tools)).toEqual(['bash', 'read', 'write', 'edit']);
    expect(config.workspaces).toEqual({ default: { name: 'default', root: directory } });
  });

  test('loads TypeScript that imports from holdfast, with functions, wherever it lies', async () => {
    await write('holdfast.config.ts', typescript);
    const { config, file } = await load();
    expect(file).toBe(join(directory, 'holdfast.config.ts'));
    expect(config.agents['default']?.systemPrompt).toBe('From TypeScript');
    expect(config.agents['default']?.hooks.shouldStopAfterTurn).toBeTypeOf('function');
    expect(config.tools['deploy']?.execute({}, {} as never)).toBe('deployed');
  });

  test('what a config imports from holdfast is what runs, and zod is ours where it has none', async () => {
    await write(
      'holdfast.config.ts',
      `import { AgentClient, defineTool } from 'holdfast';
      import { z } from 'zod';
      const parameters = z.object({ of: z.string() });
      const values: { [name: string]: unknown } = { AgentClient };
      const execute = ({ of }: { of: string }) => values[of] as never;
      export default { tools: [defineTool({ name: 'value', description: 'A value', parameters, execute })] };`,
    );
    const { config } = await load();
    const value = (of: string) => config.tools['value']?.execute({ of }, {} as never);
    expect(await value('AgentClient')).toBe(AgentClient);
    await expect(value(1 as never)).rejects.toThrow(/Invalid arguments/);
  });

  test.each([
    ['holdfast.config.js', `export default { taskQueue: 'agents' };`],
    ['holdfast.config.mjs', `export default { taskQueue: 'agents' };`],
    ['holdfast.config.json', `{ "taskQueue": "agents" }`],
  ])('loads %s', async (name, text) => {
    await write(name, text);
    expect((await load()).config.taskQueue).toBe('agents');
  });

  test('reads the file anew each time', async () => {
    await write('holdfast.config.js', `export default { taskQueue: 'first' };`);
    await load();
    await write('holdfast.config.js', `export default { taskQueue: 'second' };`);
    expect((await load()).config.taskQueue).toBe('second');
  });

  test('JSON can say everything but functions', async () => {
    const json = {
      models: { default: { model: 'm', apiKeyEnv: 'MY_KEY', prices: { input: 1, output: 2 } } },
      agents: { default: { systemPrompt: 'Hi', tools: ['read'], approval: { read: 'ask' } } },
      workspaces: { default: { root: '.' } },
      maxToolTimeout: '20 minutes',
      toolEnvironment: ['JAVA_HOME'],
    };
    await write('holdfast.config.json', JSON.stringify(json));
    const { config } = await load();
    expect(config.models['default']).toMatchObject({ apiKeyEnv: 'MY_KEY' });
    expect(config.agents['default']?.approval).toEqual({ read: 'ask' });
  });

  test('with a path takes that file; its relative workspaces start where it lies, the default one does not', async () => {
    await mkdir(join(directory, 'settings'));
    await write('settings/some.json', '{ "workspaces": { "here": { "root": "." } } }');
    await write('settings/other.json', '{}');
    expect((await load('settings/some.json')).config.workspaces).toEqual({
      here: { name: 'here', root: join(directory, 'settings') },
    });
    expect((await load('settings/other.json')).config.workspaces).toEqual({
      default: { name: 'default', root: directory },
    });
  });

  test('a JSON file may begin with a byte order mark, as some editors write it', async () => {
    await write('holdfast.config.json', '\uFEFF{ "taskQueue": "agents" }');
    expect((await load()).config.taskQueue).toBe('agents');
  });

  test('bash tells the model the longest time-out that the config allows', async () => {
    await write('holdfast.config.json', '{ "maxToolTimeout": "90 seconds" }');
    const { config } = await load();
    expect(JSON.stringify(config.tools['bash']?.parameters)).toContain('at most 90.');
  });

  test('two config files are an error rather than a guess', async () => {
    await write('holdfast.config.ts', typescript);
    await write('holdfast.config.json', '{}');
    await expect(load()).rejects.toThrow(
      'holdfast.config.ts cannot be used: there is holdfast.config.json as well; keep one, or choose with --config.',
    );
  });

  test.each([
    [
      'missing.json',
      undefined,
      'missing.json cannot be used: there is no such file; correct the path.',
    ],
    ['broken.json', '{', 'broken.json cannot be used: it cannot be loaded: '],
    ['broken.ts', 'export default {', 'broken.ts cannot be used: it cannot be loaded: '],
    [
      'throws.js',
      'throw new Error("no luck")',
      'throws.js cannot be used: it cannot be loaded: no luck',
    ],
    [
      'empty.ts',
      'export const config = {};',
      'empty.ts cannot be used: it exports no config; write `export default defineConfig({ … })`.',
    ],
    [
      'wrong.json',
      '{ "agents": [] }',
      'wrong.json cannot be used: agents must be an object, not a list.',
    ],
  ])('%s is an error that names the file and what is wrong', async (name, text, message) => {
    if (text !== undefined) await write(name, text);
    await expect(load(name)).rejects.toThrow(message);
  });
});
