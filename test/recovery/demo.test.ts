// The demo as people run it: a process, its exit code, its table, and what it leaves behind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { checkFacts } from '../../src/demo/checks.js';
import type { DemoFacts } from '../../src/demo/checks.js';
import type { Message } from '../../src/protocol/messages.js';
import { zeroUsage } from '../../src/protocol/messages.js';
import { reply, startScriptedModel } from '../../src/testing/scripted-model.js';
import '../support/provided.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('npm run demo', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  function startDemo(flags: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
    const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...inherited } = process.env;
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', join('scripts', 'demo.ts'), ...flags],
      {
        cwd: root,
        env: {
          ...inherited,
          TEMPORAL_CLI_PATH: inject('temporalPath'),
          TMPDIR: folder,
          ...environment,
        },
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const exit = once(child, 'close').then(([code]) => code as number | null);
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await exit;
    });
    return { child, exit, output: () => output };
  }

  /** With the output, so that a failure says why. */
  const exitOf = async (demo: ReturnType<typeof startDemo>) =>
    `exit code ${await demo.exit}\n${demo.output()}`;

  /** The demo's folder and processes, all of which have that folder on their command lines. */
  async function leftBehind(): Promise<readonly string[]> {
    const folders = (await readdir(folder)).filter((name) => name.startsWith('holdfast-demo-'));
    const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
    );
    return [...folders, ...lines.filter((line) => line.includes(folder))];
  }

  const claims = [
    'Transcript complete, in order',
    'Each tool call has exactly one result',
    'Steered message in the transcript once',
    'The files are really edited',
    'Killed in a model call: the call was made again',
    'Killed in a tool call: told as unknown, run goes on',
    'The killed command ran once, not again',
    'Its processes ended with the worker',
    'The follower showed each answer once',
    'History holds what is new, once',
  ];

  test('kills two workers, steers with the stock CLI, and every claim of its table holds', async () => {
    const demo = startDemo();
    expect(await exitOf(demo)).toMatch(/^exit code 0\n/);
    for (const claim of claims) expect(demo.output()).toContain(`✓ ${claim}`);
    expect(demo.output().match(/kill -9 \d+/g)).toHaveLength(2);
    expect(demo.output()).toMatch(/\$ \S+ workflow signal --address \S+ --workflow-id demo/);
    expect(demo.output()).toMatch(/Answer \(stop\): Done\./);
    expect(demo.output()).toMatch(
      /Web UI: http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/demo/,
    );
    expect(await leftBehind()).toEqual([]);
  });

  test('with a provider in the environment it uses that one, and checks no fixed texts', async () => {
    let hasNote = false;
    const model = await startScriptedModel((body) => {
      const turn = body.messages.filter(({ role }) => role === 'assistant').length + 1;
      const call = (command: string) =>
        reply.toolCalls([{ name: 'bash', arguments: { command } }], { delayMs: 400 });
      if (turn === 1) {
        return call(
          `sed -i 's/  const rest/  if (seconds >= 3600) return "1h 2m 5s";\\n  const rest/' duration.js`,
        );
      }
      if (turn === 2) return call('node --test');
      if (hasNote) return reply.text('All is done.', { delayMs: 100 });
      hasNote = true;
      return call('node add-note.js "Hours"');
    });
    const demo = startDemo([], { OPENAI_BASE_URL: model.baseURL });
    expect(await exitOf(demo)).toMatch(/^exit code 0\n/);
    for (const claim of claims) expect(demo.output()).toContain(`✓ ${claim}`);
    expect(demo.output()).toContain('Answer (stop): All is done.');
    expect(await leftBehind()).toEqual([]);
    await model.close();
  });

  test('an agent that mends nothing makes it leave with 1 and say what does not hold', async () => {
    const model = await startScriptedModel(() => reply.text('I would rather not.'));
    const demo = startDemo([], { OPENAI_BASE_URL: model.baseURL });
    expect(await exitOf(demo)).toMatch(/^exit code 1\n/);
    expect(demo.output()).toContain('✗ The files are really edited');
    expect(demo.output()).toContain('– Killed in a model call');
    expect(await leftBehind()).toEqual([]);
    await model.close();
  });

  test('Ctrl-C in the middle leaves with 130 and nothing behind', async () => {
    const demo = startDemo();
    await vi.waitFor(() => expect(demo.output()).toContain('First I look'), 60_000);
    demo.child.kill('SIGINT');
    expect(await demo.exit).toBe(130);
    expect(await leftBehind()).toEqual([]);
  });
});

describe('the checks of the demo', () => {
  const answer = (
    content: (Message & { readonly role: 'assistant' })['content'],
    stopReason: 'stop' | 'toolUse',
  ): Message => ({
    role: 'assistant',
    content,
    provider: 'p',
    model: 'm',
    usage: zeroUsage,
    stopReason,
    timestamp: 0,
  });
  const user = (content: string): Message => ({ role: 'user', content, timestamp: 0 });
  const call = {
    type: 'toolCall' as const,
    id: 'call_1',
    name: 'bash',
    arguments: { command: 'node add-note.js "x"' },
  };
  const result: Message = {
    role: 'toolResult',
    toolCallId: 'call_1',
    toolName: 'bash',
    content: [{ type: 'text', text: 'The outcome of this call is unknown: …' }],
    isError: true,
    timestamp: 0,
  };
  const facts: DemoFacts = {
    events: [],
    messages: [
      user('Go'),
      answer([call], 'toolUse'),
      result,
      user('And this'),
      answer([{ type: 'text', text: 'Done' }], 'stop'),
    ],
    prompt: 'Go',
    steered: 'And this',
    shown: ['', 'Done'],
    project: { testsPass: true, notes: ['- x'], changed: ['duration.js'] },
    activities: [
      { type: 'completeChat', summary: 'turn 1 · m', attempt: 2, startedAt: 2_000 },
      { type: 'callTool', summary: 'bash · node add-note.js', attempt: 1, startedAt: 3_000 },
      { type: 'completeChat', summary: 'turn 2 · m', attempt: 1, startedAt: 9_000 },
    ],
    history: { events: 20, bytes: 5_000 },
    modelKill: { at: 1_000 },
    toolKill: { at: 4_000, toolCallId: 'call_1', alive: false },
  };
  const broken = (changes: Partial<DemoFacts>) =>
    checkFacts({ ...facts, ...changes })
      .filter(({ verdict }) => verdict === 'broken')
      .map(({ claim }) => claim);
  const { project, activities, messages } = facts;

  test.each<readonly [string, string, Partial<DemoFacts>]>([
    [
      'a call without a result',
      'Each tool call',
      { messages: messages.filter((m) => m !== result) },
    ],
    ['a steered message twice', 'Steered', { messages: [...messages, user('And this')] }],
    ['a steered message that is not there', 'Steered', { steered: 'Other' }],
    ['tests that fail', 'The files', { project: { ...project, testsPass: false } }],
    ['files as they were', 'The files', { project: { ...project, changed: [] } }],
    [
      'a command that ran twice',
      'The killed command',
      { project: { ...project, notes: ['a', 'b'] } },
    ],
    ['no second attempt', 'Killed in a model', { activities: activities.slice(1) }],
    ['no model call after it', 'Killed in a tool', { activities: activities.slice(0, 2) }],
    [
      'a process that lives on',
      'Its processes',
      { toolKill: { at: 4_000, toolCallId: 'call_1', alive: true } },
    ],
    ['a text shown twice', 'The follower', { shown: ['', 'DoneDone'] }],
    ['a history with repeated content', 'History', { history: { events: 20, bytes: 500_000 } }],
    [
      'other texts than the script has',
      'Transcript',
      { script: { texts: [], calls: ['bash'], faults: [] } },
    ],
    [
      'a fault of the model',
      'Transcript',
      { script: { texts: ['', 'Done'], calls: ['bash'], faults: ['x'] } },
    ],
  ])('%s breaks the claim that begins "%s"', (_, claim, changes) => {
    expect(broken(changes)).toContainEqual(expect.stringMatching(new RegExp(`^${claim}`)));
  });

  test('a claim that it never came to is neither held nor broken', () => {
    const { modelKill: _, toolKill: __, steered: ___, ...rest } = facts;
    const unseen = checkFacts(rest).filter(({ verdict }) => verdict === 'unseen');
    expect(unseen).toHaveLength(5);
  });
});
