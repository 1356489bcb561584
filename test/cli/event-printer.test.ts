import pc from 'picocolors';
import { describe, expect, test } from 'vitest';
import { EventPrinter, summarizeArguments } from '../../src/cli/event-printer.js';
import type { FollowedEvent } from '../../src/client/index.js';
import { zeroUsage } from '../../src/protocol/messages.js';
import type { AssistantMessage } from '../../src/protocol/messages.js';

function printed(events: readonly object[], columns = 60, toolOutput = false): string {
  const printer = new EventPrinter({
    workflowId: 'calm-otter-7k2m',
    columns: () => columns,
    colours: pc.createColors(false),
    toolOutput,
  });
  return events.map((event) => printer.print(event as FollowedEvent)).join('') + printer.finish();
}

function messageEnd(text: string, unshown: string, more: Partial<AssistantMessage> = {}): object {
  const content: AssistantMessage = {
    role: 'assistant',
    content: [{ type: 'text', text }],
    provider: 'p',
    model: 'm',
    usage: zeroUsage,
    stopReason: 'stop',
    timestamp: 1,
    ...more,
  };
  return { type: 'message_end', seq: 1, at: 1, message: 1, content, unshown };
}

const update = (text: string) => ({ type: 'message_update', text, thinking: '' });

describe('EventPrinter', () => {
  test('text appears as it streams and is not printed again at its end', () => {
    expect(printed([update('Hel'), update('lo'), messageEnd('Hello you', ' you')])).toBe(
      'Hello you\n',
    );
  });

  test('an answer that did not stream is printed at its end', () => {
    expect(printed([messageEnd('Hello', 'Hello')])).toBe('Hello\n');
  });

  test('a new attempt starts on a line of its own', () => {
    expect(
      printed([
        update('A false'),
        { ...update('A right one'), startsOver: true },
        messageEnd('A right one', ''),
      ]),
    ).toBe('A false\n(starting over)\nA right one\n');
  });

  test('a wait for a workspace says which worker to start, and how it ended', () => {
    const start = {
      type: 'workspace_wait_start',
      workspace: 'left',
      waitMs: 600_000,
    };
    const end = (reached: boolean) => ({ type: 'workspace_wait_end', workspace: 'left', reached });
    expect(printed([start, end(true), start, end(false)])).toBe(
      [
        'Waiting for a worker of the workspace left, at most 10 min. Start one whose config declares it: holdfast worker.',
        'A worker of the workspace is there.',
        'Waiting for a worker of the workspace left, at most 10 min. Start one whose config declares it: holdfast worker.',
        'The wait for it is over.',
        '',
      ].join('\n'),
    );
  });

  test('tool calls are one line each, cut to the terminal', () => {
    const text = printed(
      [
        update('Let me see'),
        messageEnd('Let me see', ''),
        {
          type: 'tool_execution_start',
          toolName: 'bash',
          toolCallId: 'c',
          args: { command: `ls\n${'x'.repeat(100)}` },
        },
        {
          type: 'tool_execution_end',
          toolName: 'bash',
          toolCallId: 'c',
          isError: true,
          result: { content: [{ type: 'text', text: `first\n${'y'.repeat(100)}` }] },
        },
      ],
      40,
    );
    const lines = text.split('\n');
    expect(lines).toEqual([
      'Let me see',
      expect.stringMatching(/^● bash ls x+…$/),
      expect.stringMatching(/^✗ bash first y+…$/),
      '',
    ]);
    for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(40);
  });

  test('a tool call begins on a line of its own even in the middle of a text', () => {
    const start = { type: 'tool_execution_start', toolName: 'ls', toolCallId: 'c', args: {} };
    expect(printed([update('Wait'), start])).toBe('Wait\n● ls\n');
  });

  test('what tools print while they run is shown on demand only', () => {
    const events = [{ type: 'tool_execution_update', partialResult: 'line\n' }];
    expect(printed(events)).toBe('');
    expect(printed(events, 60, true)).toBe('line\n');
  });

  test('a call id that would be more than a word in a shell is quoted, and steers no terminal', () => {
    const toolCallId = "x; rm -rf ~ '\u001b[2J";
    const text = printed([{ type: 'approval_requested', toolCallId, toolName: 'bash' }]);
    expect(text).toContain(`--call 'x; rm -rf ~ '\\''[2J'`);
    expect(text).not.toContain('\u001b');
  });

  test('an approval shows what is asked for, each its own', () => {
    const start = (toolCallId: string, command: string) =>
      ({
        type: 'tool_execution_start',
        toolCallId,
        toolName: 'bash',
        message: 1,
        args: { command },
      }) as const;
    const text = printed([
      start('call_1', 'echo one'),
      start('call_2', 'rm -r build'),
      { type: 'approval_requested', toolCallId: 'call_2', toolName: 'bash' },
    ]);
    expect(text).toContain('? bash asks for approval. Answer with:\n    rm -r build\n');
  });

  test('an approval says how it is answered', () => {
    const text = printed([{ type: 'approval_requested', toolCallId: 'call_1', toolName: 'bash' }]);
    expect(text).toContain('holdfast approve calm-otter-7k2m --call call_1\n');
    expect(text).toContain('holdfast deny calm-otter-7k2m --call call_1');
  });

  test('a model error is printed once', () => {
    const end = messageEnd('', '', { stopReason: 'error', errorMessage: '401 bad key' });
    const text = printed([
      end,
      { type: 'agent_end', stopReason: 'error', errorMessage: '401 bad key' },
    ]);
    expect(text).toBe('Model error: 401 bad key\n');
    expect(
      printed([{ type: 'agent_end', stopReason: 'error', errorMessage: 'a hook threw' }]),
    ).toBe('a hook threw\n');
  });

  test('an abort and what was not delivered are told', () => {
    expect(
      printed([
        update('Half'),
        messageEnd('Half', '', { stopReason: 'aborted' }),
        {
          type: 'agent_end',
          stopReason: 'aborted',
          undelivered: [{ kind: 'steer', preview: 'Stop' }],
        },
      ]),
    ).toBe('Half\nAborted.\nnot delivered (steer): Stop\n');
  });

  test('outages, retries and limits are told in plain words', () => {
    expect(printed([{ type: 'unreachable', what: 'server', reason: 'x' }])).toMatch(/server/);
    expect(printed([{ type: 'unreachable', what: 'worker', reason: 'x' }])).toMatch(
      /No worker answers.*holdfast worker/,
    );
    expect(printed([{ type: 'retry', attempt: 2, reason: '429', delayMs: 3_000 }])).toBe(
      'Attempt 2 in 3 s: 429\n',
    );
    expect(printed([{ type: 'limit_reached', limit: 'maxTurns', value: 200 }])).toBe(
      'Limit reached: maxTurns (200).\n',
    );
    expect(printed([{ type: 'rejected', kind: 'prompt', reason: 'a run is active' }])).toBe(
      'rejected (prompt): a run is active\n',
    );
    expect(printed([{ type: 'lost', from: 1, to: 20 }])).toContain('1 to 20');
  });

  test('control characters of models and tools never reach the terminal', () => {
    const text = printed([
      update('\u001b[2J'),
      messageEnd('x', '\u001b]0;x\u0007'),
      {
        type: 'tool_execution_start',
        toolName: 'a\u001b[1m',
        toolCallId: 'c',
        args: { command: '\u001b[2J' },
      },
    ]);
    expect(text.includes('\u001b')).toBe(false);
    expect(text.includes('\u0007')).toBe(false);
  });
});

describe('summarizeArguments', () => {
  test.each([
    [{ command: 'npm test', timeout: 5 }, 'npm test'],
    [{ path: 'a.md', content: 'long' }, 'a.md'],
    [{ city: 'Oslo' }, 'Oslo'],
    [{ a: 1, b: 2 }, '{"a":1,"b":2}'],
    [{}, ''],
  ])('%o is %s', (args, expected) => expect(summarizeArguments(args)).toBe(expected));
});
