// The examples as people run them: real processes, a real server, and a scripted model for the provider.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { AgentClient } from '../../src/client/index.js';
import { reply, startScriptedModel } from '../../src/testing/scripted-model.js';
import type { Script, ScriptedModel } from '../../src/testing/scripted-model.js';
import { eventually } from '../client/support/eventually.js';
import { startProcess } from '../client/support/processes.js';
import type { RunningProcess } from '../client/support/processes.js';
import '../support/provided.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const address = inject('serverAddress');
const temporalPath = inject('temporalPath');

let namespace: string;
let directory: string;
let model: ScriptedModel;

// The examples use the task queue that people use: each test has a namespace to itself.
beforeEach(async () => {
  namespace = `examples-${randomUUID()}`;
  directory = await mkdtemp(join(tmpdir(), 'holdfast-examples-'));
  const create = ['operator', 'namespace', 'create', '--address', address, '-n', namespace];
  await promisify(execFile)(temporalPath, create);
});
afterEach(async () => {
  await model.close({ expectFaults: true });
  await rm(directory, { recursive: true, force: true });
});

function environmentOf(model: ScriptedModel): NodeJS.ProcessEnv {
  return {
    ...process.env,
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: model.baseURL,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_CONFIG_FILE: join(directory, 'none.toml'),
    TEMPORAL_CLI_PATH: temporalPath,
    PATH: `${dirname(temporalPath)}${delimiter}${process.env['PATH'] ?? ''}`,
  };
}

/** A worker that is told so by its config, in a folder with two files. */
async function startWorker(script: Script, config?: string): Promise<RunningProcess> {
  model = await startScriptedModel(script);
  await writeFile(join(directory, 'notes.txt'), 'one\n');
  await writeFile(join(directory, 'main.js'), '');
  const chosen = config === undefined ? [] : ['--config', join(root, config)];
  const worker = startProcess(
    'src/cli/main.ts',
    ['worker', ...chosen],
    environmentOf(model),
    directory,
  );
  await eventually(() => expect(worker.stderr()).toContain('Config: '));
  return worker;
}

function run(file: string, ...args: readonly string[]): RunningProcess {
  return startProcess(file, args, environmentOf(model));
}

async function exited(running: RunningProcess): Promise<string> {
  const code = await running.exit;
  expect({ code, stderr: running.stderr() }).toEqual({ code: 0, stderr: '' });
  return running.stdout();
}

const bash = (command: string) => reply.toolCalls([{ name: 'bash', arguments: { command } }]);

describe('examples', () => {
  test('client: starts a run, steers it and prints what happens', async () => {
    await using _ = await startWorker([
      bash('ls'),
      reply.text('There are two files.', { chunkSize: 4, delayMs: 50 }),
    ]);
    const printed = await exited(run('examples/client/client.ts', 'What is here?'));
    expect(printed.split('\n')).toEqual([
      expect.stringMatching(/^Started \S+\.$/),
      '',
      'bash {"command":"ls"}',
      'That worked.',
      'There are two files.',
      'It ended with stop after 2 turns.',
      '',
    ]);
    const told = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(told).toMatch(/What is here\?.*Answer in one sentence\./);
  });

  test('own-tool: its tools do what the model asks, the one with an effect after a person agreed', async () => {
    await using _ = await startWorker(
      [
        reply.toolCalls([{ name: 'price', arguments: { fruit: 'pear' } }]),
        reply.toolCalls([{ name: 'order', arguments: { fruit: 'pear', count: 3 } }]),
        reply.text('Ordered three pears.'),
      ],
      'examples/own-tool/holdfast.config.ts',
    );
    const following = run('src/cli/main.ts', 'run', '--id', 'pears', 'Three pears, please');
    await eventually(() => expect(following.stdout() + following.stderr()).toMatch(/approve/));
    await exited(run('src/cli/main.ts', 'approve', 'pears'));
    expect(await following.exit).toBe(0);
    expect(following.stdout()).toContain('One pear costs 0.55 euros.');
    expect(following.stdout()).toContain('Ordered three pears.');
    expect(await readFile(join(directory, 'orders.txt'), 'utf8')).toBe('3 pear\n');
  });

  test('own-tool: its test passes', async () => {
    model = await startScriptedModel([]);
    expect(await exited(run('examples/own-tool/agent.test.ts'))).toMatch(/pass 1\b[^]*fail 0\b/);
  });

  test('own-workflow: two agents write, and a signal of its own lets the article out', async () => {
    await using _ = await startWorker(
      [
        reply.text('Tea is hot.'),
        reply.text('It is too short.'),
        reply.toolCalls([
          { name: 'write', arguments: { path: 'article.md', content: 'Tea is hot water.' } },
        ]),
        reply.text('It is saved.'),
      ],
      'examples/own-workflow/holdfast.config.ts',
    );
    const temporal = async (...args: readonly string[]) =>
      (await promisify(execFile)(temporalPath, args, { env: environmentOf(model) })).stdout;
    const tea = ['--workflow-id', 'tea'];
    const start = ['workflow', 'start', '--type', 'article', '--task-queue', 'holdfast', ...tea];
    await temporal(...start, '--input', '"tea"');
    await model.request(2);
    expect(existsSync(join(directory, 'article.md'))).toBe(false);
    await temporal('workflow', 'signal', '--name', 'publish', ...tea);
    expect(await temporal('workflow', 'result', ...tea)).toContain('It is saved.');
    expect(await readFile(join(directory, 'article.md'), 'utf8')).toBe('Tea is hot water.');
    const asked = model.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(asked[1]).toMatch(/You say what is wrong.*What should be better\?.*Tea is hot\./);
    expect(asked[2]).toMatch(/You write in plain words.*A reviewer says: It is too short\./);
  });

  test('stock-cli: an agent is started, steered, watched and read with the temporal command alone', async () => {
    await using client = await AgentClient.connect({ address, namespace });
    const toldAll = () =>
      eventually(async () => {
        expect((await client.get('demo').state()).queues.followUpLength).toBe(1);
      });
    await using _ = await startWorker([
      async () => {
        await toldAll();
        return bash('ls');
      },
      reply.text('There is notes.txt.'),
      reply.text('One file.'),
    ]);
    const { stdout } = await promisify(execFile)(
      'sh',
      [join(root, 'examples/stock-cli/operate.sh'), 'demo'],
      { env: environmentOf(model) },
    );
    expect(stdout).toContain('Signal workflow succeeded');
    expect(stdout).toMatch(/"?followUpLength"?\s*:\s*1/);
    expect(stdout).toContain('One file.');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toMatch(
      /List the files here.*Only the text files.*Now count them/,
    );
  });
});
