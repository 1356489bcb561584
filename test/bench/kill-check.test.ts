// The check after the kills must see what kills could break. Each test here takes a run that went well, with
// real effects in a workspace, and breaks it in one way.

import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkRecord } from '../../bench/kill-check.js';
import type { RunRecord } from '../../bench/kill-check.js';
import { callsOf, editedFile, logFile, promptOfRun, turnsPerRun } from '../../bench/kill-script.js';
import type { KillRun } from '../../bench/kill-script.js';
import type { JsonObject } from '../../src/protocol/json.js';
import type { Message, ToolResultMessage } from '../../src/protocol/messages.js';
import { createFakeWorld } from '../support/fake-effects.js';
import { asks, returns, says, toolCall, toolSpec } from '../support/loop-values.js';

/** A seed whose ten turns hold every kind of call. */
const plan: KillRun = { seed: 1, name: 'lane0-run0' };

let workspace: string;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'holdfast-check-'));
  await writeFile(join(workspace, editedFile(plan)), 'BEGIN\nEND\n');
});

afterEach(() => rm(workspace, { recursive: true }));

const replaceIn = async (file: string, from: string, to: string) => {
  const path = join(workspace, file);
  await writeFile(path, (await readFile(path, 'utf8')).replace(from, to));
};

/** What the tool of a call does, without its sleeps. */
async function act(name: string, args: JsonObject): Promise<void> {
  const { command, oldText, newText } = args as { readonly [field: string]: string };
  if (name === 'bash') {
    const [, key = ''] = /echo (\S+) >>/.exec(command ?? '') ?? [];
    await appendFile(join(workspace, logFile(plan)), `${key}\n`);
  }
  if (name === 'edit') {
    await replaceIn(editedFile(plan), oldText ?? '', newText ?? '');
  }
}

/** The run as the real loop leaves it when nothing goes wrong. */
async function goodRun(): Promise<RunRecord> {
  const turns = Array.from({ length: turnsPerRun }, (_, index) => {
    const calls = callsOf(plan, index + 1);
    return asks(
      calls.map(({ name, arguments: args }, i) =>
        toolCall(`c${index + 1}-${i}`, name, args as JsonObject),
      ),
    );
  });
  const world = createFakeWorld({
    replies: [...turns, says('All is done.')],
    tools: ['bash', 'read', 'write', 'edit'].map((name) => toolSpec(name)),
    async execute({ call, args }) {
      await act(call.name, args);
      return returns('done');
    },
  });
  await world.run(promptOfRun(plan));
  return { events: world.events, messages: world.messages };
}

const violationsOf = async (record: RunRecord) =>
  (await checkRecord(record, plan, workspace)).violations;

const isResultOf =
  (name: string) =>
  (message: Message): message is ToolResultMessage =>
    message.role === 'toolResult' && message.toolName === name;

/** The record with the message at `index` replaced; with none in its place, left out. */
function withMessage({ events, messages }: RunRecord, index: number, ...by: Message[]): RunRecord {
  return { events, messages: messages.toSpliced(index, 1, ...by) };
}

function resultWith(message: Message | undefined, fields: Partial<ToolResultMessage>): Message {
  return { ...message, ...fields } as Message;
}

const failed = (text: string): Partial<ToolResultMessage> => ({
  isError: true,
  content: [{ type: 'text', text }],
});

describe('a run that went well', () => {
  test('breaks nothing, and holds every kind of call', async () => {
    const { events, messages } = await goodRun();
    expect(await checkRecord({ events, messages }, plan, workspace)).toEqual({
      violations: [],
      unknownOutcomes: 0,
    });
    const called = new Set(messages.map((message) => 'toolName' in message && message.toolName));
    expect(called).toEqual(new Set([false, 'bash', 'edit', 'read', 'write']));
  });

  test('may hold an effect whose outcome is unknown, whether it happened or not', async () => {
    const record = await goodRun();
    const index = record.messages.findIndex(isResultOf('bash'));
    const unknown = resultWith(record.messages[index], failed('The outcome is unknown.'));
    const happened = withMessage(record, index, unknown);
    expect(await checkRecord(happened, plan, workspace)).toMatchObject({ unknownOutcomes: 1 });
    expect(await violationsOf(withToldError(happened, unknown))).toEqual([]);

    await replaceIn(logFile(plan), `${plan.name}/1/0\n`, '');
    expect(await violationsOf(withToldError(happened, unknown))).toEqual([]);
  });
});

/** The event of a call's end says what its result says. */
function withToldError({ events, messages }: RunRecord, result: Message): RunRecord {
  const { toolCallId } = result as ToolResultMessage;
  return {
    messages,
    events: events.map((event) =>
      event.type === 'tool_execution_end' && event.toolCallId === toolCallId
        ? { ...event, isError: true }
        : event,
    ),
  };
}

describe('the check sees', () => {
  test('a result that was lost', async () => {
    const record = await goodRun();
    for (const [index, message] of record.messages.entries()) {
      if (message.role !== 'toolResult') continue;
      expect(await violationsOf(withMessage(record, index))).not.toEqual([]);
    }
  });

  test('a result that is there twice', async () => {
    const record = await goodRun();
    const index = record.messages.findIndex(isResultOf('read'));
    const result = record.messages[index] as Message;
    expect(await violationsOf(withMessage(record, index, result, result))).not.toEqual([]);
  });

  test.each(['bash', 'edit'])('an effect of %s that happened twice', async (name) => {
    const record = await goodRun();
    const [turn, index] = firstCallOf(name);
    const key = `${plan.name}/${turn}/${index}`;
    const file = name === 'bash' ? logFile(plan) : editedFile(plan);
    await replaceIn(file, `${key}\n`, `${key}\n${key}\n`);
    expect(await violationsOf(record)).toEqual([`${name} ${key} happened 2 times`]);
  });

  test('an effect that happened twice, though the outcome of its call is unknown', async () => {
    const record = await goodRun();
    const index = record.messages.findIndex(isResultOf('bash'));
    const unknown = resultWith(record.messages[index], failed('The outcome is unknown.'));
    const told = withToldError(withMessage(record, index, unknown), unknown);
    await appendFile(join(workspace, logFile(plan)), `${plan.name}/1/0\n`);
    expect(await violationsOf(told)).toEqual([`bash ${plan.name}/1/0 happened 2 times`]);
  });

  test.each(['bash', 'edit'])('an effect of %s said to be done that is not', async (name) => {
    const record = await goodRun();
    const [turn, index] = firstCallOf(name);
    const key = `${plan.name}/${turn}/${index}`;
    await replaceIn(name === 'bash' ? logFile(plan) : editedFile(plan), `${key}\n`, '');
    expect(await violationsOf(record)).toEqual([`${name} ${key} is said to be done and is not`]);
  });

  test('results in another order than their calls', async () => {
    const { events, messages } = await goodRun();
    const first = messages.findIndex(
      (message, index) =>
        message.role === 'toolResult' && messages[index + 1]?.role === 'toolResult',
    );
    const [one, other] = messages.slice(first, first + 2) as [Message, Message];
    const swapped = messages.toSpliced(first, 2, other, one);
    expect(await violationsOf({ events, messages: swapped })).not.toEqual([]);
  });

  test('turns in another order than the model took them', async () => {
    const { events, messages } = await goodRun();
    const turns: Message[][] = [];
    for (const message of messages) {
      if (message.role === 'assistant' || turns.length === 0) turns.push([]);
      turns.at(-1)?.push(message);
    }
    const [prompt = [], one = [], other = [], ...rest] = turns;
    const swapped = [prompt, other, one, ...rest].flat();
    const violations = await violationsOf({ events, messages: swapped });
    expect(violations).toContain('turn 1 has other calls than the model asked for');
  });

  test('a turn that is there twice, and one that is missing', async () => {
    const record = await goodRun();
    const index = record.messages.findIndex(({ role }) => role === 'assistant');
    const answer = record.messages[index] as Message;
    const twice = await violationsOf(withMessage(record, index, answer, answer));
    expect(twice).toContain(`${turnsPerRun + 2} answers`);
    expect(await violationsOf(withMessage(record, index))).toContain(`${turnsPerRun} answers`);
  });

  test('a call whose arguments are not those of the model', async () => {
    const record = await goodRun();
    const index = record.messages.findIndex(({ role }) => role === 'assistant');
    const answer = record.messages[index] as Extract<Message, { role: 'assistant' }>;
    const content = answer.content.map((block) =>
      block.type === 'toolCall' ? { ...block, arguments: { command: 'true' } } : block,
    );
    expect(await violationsOf(withMessage(record, index, { ...answer, content }))).toContain(
      'turn 1 has other calls than the model asked for',
    );
  });

  test('a prompt that was lost, and a log whose events have a gap', async () => {
    const record = await goodRun();
    expect(await violationsOf(withMessage(record, 0))).not.toEqual([]);
    const events = record.events.toSpliced(5, 1);
    expect(await violationsOf({ ...record, events })).not.toEqual([]);
  });
});

/** Turn and place of the first call of a tool that keeps a key. */
function firstCallOf(name: string): readonly [turn: number, index: number] {
  for (let turn = 1; turn <= turnsPerRun; turn++) {
    const index = callsOf(plan, turn).findIndex((call) => call.name === name);
    if (index >= 0) return [turn, index];
  }
  throw new Error(`The plan has no call of ${name}.`);
}
