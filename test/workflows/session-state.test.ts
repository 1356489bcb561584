import { describe, expect, test, vi } from 'vitest';
import { payloadLimits } from '../../src/protocol/limits.js';
import type { AssistantMessage, Untimed } from '../../src/protocol/messages.js';
import { toolSummary } from '../../src/workflows/activity-calls.js';
import type { AgentSession } from '../../src/workflows/agent-session.js';
import { currentDetails } from '../../src/workflows/current-details.js';
import { acceptInput } from '../../src/workflows/session-inputs.js';
import { responseOf, stateOf, statusOf } from '../../src/workflows/session-state.js';
import {
  awaitApprovals,
  createSession,
  idleSession,
  runningSession,
} from '../support/fake-session.js';
import { assistantMessage, toolCall } from '../support/loop-values.js';
import { answerBytes, expectFits } from '../support/pages.js';

vi.mock(import('@temporalio/workflow'), async (original) => ({
  ...(await original()),
  setCurrentDetails: () => undefined,
}));

const definition = {
  name: 'default',
  model: 'small',
  models: { small: { model: 'gpt-5-mini', provider: 'api.openai.com' } },
  tools: [],
  hooks: [],
};
const says = (text: string, fields: Partial<Untimed<AssistantMessage>> = {}) =>
  assistantMessage([{ type: 'text', text }], 'stop', fields);

describe('the status', () => {
  test('follows a session from its start to its end', async () => {
    const session = idleSession();
    expect(statusOf(session)).toBe('idle');
    acceptInput(session, 'prompt', { kind: 'value', value: 'hi' });
    expect(statusOf(session)).toBe('starting');
    const { scope } = runningSession();
    session.pendingStart = undefined;
    session.beginRun(scope);
    expect(statusOf(session)).toBe('starting');
    session.setResolved(definition);
    expect(statusOf(session)).toBe('running');
    const approvals = awaitApprovals(session, ['a']);
    expect(statusOf(session)).toBe('waiting_for_approval');
    acceptInput(session, 'approve', { kind: 'absent' });
    await approvals;
    expect(statusOf(session)).toBe('running');
    session.endRun();
    expect(statusOf(session)).toBe('idle');
    session.close();
    expect(statusOf(session)).toBe('closed');
  });
});

describe('state', () => {
  test('shows what the session is doing', () => {
    const { session } = runningSession({ messages: [{ role: 'user', content: 'x' }] });
    session.setResolved(definition);
    session.emit({ type: 'turn_start', turn: 2 });
    session.setToolCallStatus(toolCall('a', 'bash'), 'running');
    acceptInput(session, 'steer', { kind: 'value', value: { text: 'left', id: 's' } });
    expect(stateOf(session)).toEqual({
      status: 'running',
      lifetime: 'session',
      agent: 'default',
      model: 'gpt-5-mini',
      runs: 1,
      turn: 2,
      pendingToolCalls: [{ toolCallId: 'a', toolName: 'bash', status: 'running' }],
      queues: {
        steering: [{ kind: 'steer', id: 's', preview: 'left' }],
        followUp: [],
        steeringLength: 1,
        followUpLength: 0,
      },
      pendingApprovals: [],
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0 },
      transcriptLength: 1,
      undelivered: [],
    });
  });

  test('of a closed session tells what was undelivered', () => {
    const session = createSession('hi');
    acceptInput(session, 'followUp', { kind: 'value', value: 'later' });
    session.close();
    expect(stateOf(session)).toMatchObject({
      status: 'closed',
      undelivered: [{ kind: 'followUp', preview: 'later' }],
    });
  });

  test.each(['x', '"', '\u0001', '🦉', '\ud800'])(
    'fits a page with 5,000 queued messages, 2,000 tool calls and 500 approvals full of %j',
    (piece) => {
      const { session } = fullSession(piece);
      expectFits(stateOf(session));
      session.close();
      expectFits(stateOf(session));
      const { queues, pendingToolCalls, pendingApprovals, undelivered } = stateOf(session);
      expect(queues).toMatchObject({ steeringLength: 2_500, followUpLength: 2_500 });
      expect(queues.steering.length).toBeGreaterThan(5);
      expect(pendingToolCalls.length).toBeGreaterThan(5);
      expect(pendingApprovals.length).toBeGreaterThan(5);
      expect(undelivered.length).toBeGreaterThan(5);
    },
  );

  test('a usual state is whole', () => {
    const { session } = runningSession();
    for (let i = 0; i < 50; i++) {
      acceptInput(session, 'steer', { kind: 'value', value: `message ${i}` });
      session.setToolCallStatus(toolCall(`call_${i}`, 'bash'), 'running');
    }
    const { queues, pendingToolCalls } = stateOf(session);
    expect([queues.steering.length, pendingToolCalls.length]).toEqual([50, 50]);
  });

  function fullSession(piece: string) {
    const long = piece.repeat(100_000);
    const running = runningSession();
    const { session } = running;
    session.setResolved(definition);
    for (let i = 0; i < 5_000; i++) {
      const id = `${i}`.padEnd(200, piece).slice(0, 200);
      const value = { text: i < 20 ? piece.repeat(1_000_000) : piece.repeat(500), id };
      acceptInput(session, i % 2 === 0 ? 'steer' : 'followUp', { kind: 'value', value });
    }
    const ids = Array.from({ length: 500 }, (_, i) => `${i}${long}`);
    void awaitApprovals(session, ids, { long }, long);
    for (let i = 0; i < 1_500; i++) {
      session.setToolCallStatus(toolCall(`b${i}${long}`, long), 'running');
    }
    session.lastError = long;
    return running;
  }
});

describe('response', () => {
  function responding(...messages: readonly Untimed<AssistantMessage>[]): AgentSession {
    const session = idleSession();
    for (const message of messages) session.append(message);
    return session;
  }

  test('is null before there is an answer', () => {
    expect(responseOf(idleSession())).toBeNull();
    expect(responseOf(responding(says('half', { stopReason: 'aborted' })))).toBeNull();
  });

  test('is the last answer that counts, without its reasoning', () => {
    const session = responding(
      says('first'),
      assistantMessage([
        { type: 'thinking', thinking: 'secret' },
        { type: 'text', text: 'second' },
        toolCall('a', 'bash', { command: 'ls' }),
      ]),
      says('', { stopReason: 'error' }),
      says('half', { stopReason: 'aborted' }),
    );
    expect(responseOf(session)).toEqual({
      role: 'assistant',
      content: 'second',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
      ],
    });
  });

  test('has null for content when there is no text', () => {
    expect(responseOf(responding(assistantMessage([toolCall('a')])))).toMatchObject({
      content: null,
    });
  });

  test.each(['x', '"', '\u0001', '🦉', '\ud800'])(
    'fits a page however much text of %j and arguments the answer has',
    (piece) => {
      for (const [text, args] of [
        [1_000_000, 0],
        [95_000, 15_000],
        [95_000, 1_000_000],
      ] as const) {
        const session = responding(
          assistantMessage([
            { type: 'text', text: piece.repeat(text) },
            toolCall('a', 'bash', { command: piece.repeat(args) }),
          ]),
        );
        const response = responseOf(session);
        expectFits(response);
        expect(response?.content).not.toBeNull();
        const limited = responseOf(session, payloadLimits.maxResponseBytes);
        expect(answerBytes(limited)).toBeLessThanOrEqual(2 * payloadLimits.maxResponseBytes + 512);
      }
    },
  );

  test('fits a page where text and calls each take all they may', () => {
    const text = { type: 'text' as const, text: 'x'.repeat(1_000_000) };
    const withCalls = Array.from({ length: 20 }, (_, i) => {
      const call = toolCall('a', 'bash', { command: 'x'.repeat(99_300 + 50 * i) });
      const response = responseOf(responding(assistantMessage([text, call])));
      expectFits(response);
      return response?.tool_calls !== undefined;
    });
    // Both sides of the bound were seen.
    expect(new Set(withCalls).size).toBe(2);
  });

  test('says when text was cut or calls were left out, and only then', () => {
    expect(responseOf(responding(says('x'.repeat(1_000_000))))).toMatchObject({ truncated: true });
    expect(responseOf(responding(says('x'.repeat(50_000))))).not.toHaveProperty('truncated');
    const large = toolCall('a', 'bash', { command: 'x'.repeat(1_000_000) });
    const response = responseOf(responding(assistantMessage([large])));
    expect(response).toEqual({ role: 'assistant', content: null, truncated: true });
  });
});

describe('the current details', () => {
  test('show status, turn, model, tools, queue, tokens and the last answer', () => {
    const { session } = runningSession();
    session.setResolved(definition);
    session.emit({ type: 'turn_start', turn: 3 });
    session.setToolCallStatus(toolCall('a', 'bash'), 'running');
    session.append(says('Done **so far**'));
    acceptInput(session, 'steer', { kind: 'value', value: 'x' });
    expect(currentDetails(session)).toBe(
      [
        '**Status:** running  ',
        '**Turn:** 3  ',
        '**Model:** gpt-5-mini  ',
        '**Tools:** `bash` (running)  ',
        '**Queued:** 1  ',
        '**Tokens:** 8 in, 2 out',
        '',
        '---',
        '',
        'Done **so far**',
      ].join('\n'),
    );
  });

  test('stay a few kilobytes with 2,000 tool calls, a long answer and a long error', () => {
    const { session } = runningSession();
    for (let i = 0; i < 2_000; i++) {
      session.setToolCallStatus(toolCall(`${i}`, '🦉'.repeat(1_000)), 'running');
    }
    session.lastError = '🦉'.repeat(500_000);
    session.append(says('🦉'.repeat(500_000)));
    const details = currentDetails(session);
    expect(details).toContain('1990 more');
    expect(details.length).toBeLessThan(5_000);
    expect(Buffer.from(details).toString()).toBe(details);
  });
});

describe('toolSummary', () => {
  test.each<[string, object, string]>([
    ['bash', { timeout: 5, command: 'npm test' }, 'bash · npm test'],
    ['edit', { oldText: 'a', path: 'src/a.ts' }, 'edit · src/a.ts'],
    ['weather', { city: 'Berlin' }, 'weather · Berlin'],
    ['bash', { command: '  a\n  b\t c ' }, 'bash · a b c'],
    ['bash', { command: ' \n ', why: 'x' }, 'bash · x'],
    ['clock', {}, 'clock'],
    ['clock', { zone: 5, deep: { a: 'x' } }, 'clock'],
  ])('of %s with %j is %s', (name, args, summary) => {
    expect(toolSummary(name, args as never)).toBe(summary);
  });

  test.each(['x', '🦉', '\ud800', ' ', '\n'])('has one line of at most 160 bytes: %j', (piece) => {
    for (const name of ['bash', piece.repeat(500)]) {
      const summary = toolSummary(name, { command: `a${piece.repeat(1_000_000)}` });
      expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(160);
    }
    expect(toolSummary('bash', { command: piece.repeat(1_000) })).not.toContain('\n');
  });
});
