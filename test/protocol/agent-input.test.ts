import { describe, expect, test } from 'vitest';
import { agentInputProblem, parseAgentInput } from '../../src/protocol/agent-input.js';
import { defaultLimits } from '../../src/protocol/limits.js';

const defaults = {
  messages: [],
  agent: 'default',
  workspace: 'default',
  toolExecution: 'parallel',
  steeringMode: 'one-at-a-time',
  followUpMode: 'one-at-a-time',
  lifetime: 'run',
  limits: defaultLimits,
};
const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
const prompt = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }];

describe('parseAgentInput', () => {
  test('a bare string is the prompt; everything else has its default', () => {
    expect(parseAgentInput('hi')).toEqual({ value: { ...defaults, prompt } });
  });

  test('takes every field', () => {
    const input = {
      prompt: ['hi'],
      messages: [{ role: 'user', content: 'earlier', timestamp: 5 }],
      agent: 'coder',
      model: 'small',
      thinkingLevel: 'xhigh',
      tools: ['bash'],
      mcpServers: [],
      systemPrompt: '',
      workspace: 'repo',
      toolExecution: 'sequential',
      steeringMode: 'all',
      followUpMode: 'all',
      lifetime: 'session',
      idleTimeout: '30 minutes',
      limits: { maxTurns: 3, maxTotalTokens: 1000 },
    };
    const { idleTimeout: _, ...same } = input;
    expect(parseAgentInput(input)).toEqual({
      value: {
        ...same,
        prompt,
        idleTimeoutMs: 1_800_000,
        limits: { ...defaultLimits, maxTurns: 3, maxTotalTokens: 1000 },
      },
    });
  });

  test('a session may start without a prompt, a run from messages', () => {
    expect(agentInputProblem({ lifetime: 'session' })).toBeUndefined();
    expect(agentInputProblem({ messages: [{ role: 'user', content: 'x' }] })).toBeUndefined();
  });

  test('a field without a value is one that is not there', () => {
    expect(
      parseAgentInput({ prompt: 'hi', model: undefined, limits: { maxTurns: undefined } }),
    ).toEqual({ value: { ...defaults, prompt } });
  });
});

// oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
const listWithHole = [,];
const session = { lifetime: 'session' };
const wrong: readonly unknown[] = [
  null,
  0,
  -0,
  -1,
  1.5,
  Infinity,
  true,
  false,
  [],
  {},
  [[]],
  { a: 1 },
];
const wrongNames = [...wrong, '', 'x'.repeat(201), '🦉'.repeat(500_000)];
const wrongChoices = [...wrong, '', 'PARALLEL', 'constructor', '__proto__', 'toString', 5];
const wrongCounts = [null, 0, -0, -1, 1.5, Infinity, 2 ** 53, '5', '', true, [], {}, [5]];
const fieldNames = [
  'promt',
  'Prompt',
  'apiKey',
  'baseURL',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  '',
  ' ',
  'a.b',
  'a: b',
  'x'.repeat(1_000_000),
  '\ud800',
  '🦉'.repeat(40),
  '\n',
  '0',
];

/** Each broken in one way, with the field that the problem must name. */
const broken: readonly (readonly [field: string, input: unknown])[] = [
  ...[null, undefined, 0, -0, 1, true, [], ['x'], () => 1].map(
    (input) => ['input', input] as const,
  ),
  ...['', {}, { messages: [] }, { lifetime: 'run' }].map((input) => ['prompt', input] as const),
  ...wrong.map((value) => ['prompt', { prompt: value }] as const),
  ...[
    [''],
    [5],
    [null],
    [['x']],
    listWithHole,
    [{ text: [] }],
    nested(10_000),
    { text: 'x', a: nested(129) },
  ].map((value) => ['prompt', { prompt: value }] as const),
  [
    'messages',
    { messages: Array.from({ length: 10_001 }, () => ({ role: 'user', content: 'x' })) },
  ],
  ['tools', { ...session, tools: Array.from({ length: 501 }, (_, i) => `${i}`) }],
  ...[null, 5, 'x', {}, [null], [[]], [{}], listWithHole, nested(10_000)].map(
    (value) => ['messages', { messages: value }] as const,
  ),
  ...['agent', 'model', 'workspace'].flatMap((field) =>
    wrongNames.map((value) => [field, { ...session, [field]: value }] as const),
  ),
  ...wrong.map((value) => ['systemPrompt', { ...session, systemPrompt: value }] as const),
  ...['tools', 'mcpServers'].flatMap((field) =>
    [null, 0, 'bash', {}, true, [1], [''], [null], listWithHole, [['a']], ['x'.repeat(201)]].map(
      (value) => [field, { ...session, [field]: value }] as const,
    ),
  ),
  ...['toolExecution', 'steeringMode', 'followUpMode', 'thinkingLevel', 'lifetime'].flatMap(
    (field) => wrongChoices.map((value) => [field, { prompt: 'x', [field]: value }] as const),
  ),
  ...[null, 0, -1, Infinity, true, [], {}, '', 'soon', '5 parsecs', '1e400', '5 constructor'].map(
    (value) => ['idleTimeout', { ...session, idleTimeout: value }] as const,
  ),
  ['idleTimeout', { prompt: 'x', idleTimeout: '5 minutes' }],
  ...[null, 0, 'x', [], true].map((value) => ['limits', { prompt: 'x', limits: value }] as const),
  ...['maxTurns', 'maxTotalTokens', 'maxToolResultBytes', 'maxImageBytes'].flatMap((field) =>
    wrongCounts.map(
      (value) => [`limits.${field}`, { prompt: 'x', limits: { [field]: value } }] as const,
    ),
  ),
];

describe('agentInputProblem', () => {
  test('there are more than 200 broken inputs', () => {
    expect(broken.length).toBeGreaterThan(200);
  });

  test.each(broken)('names %s in one short sentence: broken input %#', (field, input) => {
    const problem = agentInputProblem(input);
    expect(problem).toMatch(/^[\w.[\]]+: [^\n]{1,300}\.$/);
    expect(problem?.startsWith(field)).toBe(true);
  });

  test.each(fieldNames)('names the unknown field %#, and what is known', (name) => {
    const fields = Object.defineProperty({ prompt: 'x' }, name, { value: 1, enumerable: true });
    for (const input of [fields, JSON.parse(JSON.stringify(fields)) as unknown]) {
      const problem = agentInputProblem(input) ?? '';
      expect(problem).toMatch(/: unknown field; known are prompt, messages, [\w, ]+\.$/);
      expect(problem.length).toBeLessThan(300);
      expect(Buffer.from(problem).toString()).toBe(problem);
      expect(problem.startsWith(`${name}: `)).toBe(/^\w{1,60}$/.test(name));
    }
  });

  test('the limits of a run name their unknown fields too', () => {
    expect(agentInputProblem({ prompt: 'x', limits: { maxturns: 5 } })).toBe(
      'limits.maxturns: unknown field; known are maxTurns, maxTotalTokens, maxToolResultBytes, maxImageBytes.',
    );
  });
});
