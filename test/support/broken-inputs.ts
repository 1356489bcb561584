// Workflow inputs that are none: each differs from a good one in one way.

const wrongTypes: readonly unknown[] = [null, 0, -1, 1.5, true, false, [], {}, [[]], { a: 1 }];

const notStrings = wrongTypes;
const notNames = [...wrongTypes, ''];

/** Per field: values it does not take. */
const wrongValues: { readonly [field: string]: readonly unknown[] } = {
  prompt: [
    ...wrongTypes,
    '',
    { text: '' },
    { text: 5 },
    { role: 'assistant', content: 'x' },
    { role: 'system', content: 'x' },
    { role: 'toolResult', content: 'x' },
    { role: 'user' },
    { role: 'user', content: '' },
    { role: 'user', content: [] },
    { role: 'user', content: [5] },
    { role: 'user', content: [{ type: 'text' }] },
    { role: 'user', content: [{ type: 'image', data: 'x' }] },
    { role: 'user', content: [{ type: 'video', data: 'x' }] },
    { role: 'custom', content: 'x' },
    ['fine', 7],
    ['fine', ''],
  ],
  messages: [
    null,
    5,
    'x',
    true,
    {},
    [5],
    ['x'],
    [{}],
    [{ role: 'nobody' }],
    [{ role: 'user' }],
    [{ role: 'assistant', content: 'x', stopReason: 'stop' }],
    [{ role: 'assistant', content: [], stopReason: 'nonsense' }],
    [{ role: 'assistant', content: [], stopReason: 'stop' }],
    [{ role: 'assistant', content: [{ type: 'toolCall' }], stopReason: 'stop', usage: {} }],
    [{ role: 'toolResult', content: [] }],
    [{ role: 'toolResult', toolCallId: 'a', toolName: 'b', content: [], isError: 'no' }],
    [{ role: 'compactionSummary' }],
    [{ role: 'user', content: 'x', timestamp: 'now' }],
    [{ role: '__proto__' }],
  ],
  agent: notNames,
  model: notNames,
  workspace: notNames,
  systemPrompt: notStrings,
  thinkingLevel: [...wrongTypes, 'extreme', 'HIGH', ''],
  tools: [null, 0, 'bash', {}, [1], [''], [null], [['bash']], true],
  mcpServers: [null, 0, 'x', {}, [1], [''], [null], true],
  toolExecution: [...wrongTypes, 'serial', ''],
  steeringMode: [...wrongTypes, 'one', ''],
  followUpMode: [...wrongTypes, 'each', ''],
  lifetime: [...wrongTypes, 'forever', ''],
  idleTimeout: [null, 0, -1, true, [], {}, '', 'soon', '5 parsecs', '-3 hours', '1e400'],
  limits: [
    null,
    0,
    'x',
    [],
    { maxTurns: 0 },
    { maxTurns: -1 },
    { maxTurns: 1.5 },
    { maxTurns: '5' },
    { maxTurns: null },
    { maxTotalTokens: 0 },
    { maxToolResultBytes: 'big' },
    { maxImageBytes: -3 },
    { maxSpeed: 5 },
  ],
};

const unknownFields = [
  'promt',
  'Prompt',
  'apiKey',
  'baseURL',
  'command',
  '__proto__x',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'prompt ',
  '0',
  'messages[0]',
  '💥',
];

const wholeInputs: readonly unknown[] = [null, 0, 1, -1, 1.5, true, false, [], ['x'], [[]], {}, ''];

export const brokenInputs: readonly unknown[] = [
  ...wholeInputs,
  ...Object.entries(wrongValues).flatMap(([field, values]) =>
    values.map((value) => ({
      ...(field === 'prompt' || field === 'messages' ? {} : { prompt: 'Hello' }),
      ...(field === 'idleTimeout' ? { lifetime: 'session' } : {}),
      [field]: value,
    })),
  ),
  ...unknownFields.map((field) => ({ prompt: 'Hello', [field]: 'x' })),
  { prompt: 'Hello', idleTimeout: '5 minutes' },
  { lifetime: 'run' },
  { lifetime: 'run', messages: [] },
];
