import { describe, expect, test } from 'vitest';
import { parseInputMessage, parsePrompt } from '../../src/protocol/message-input.js';

const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const;
// oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
const listWithHole = [,];
const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

function problemOf(input: unknown): string | undefined {
  const parsed = parseInputMessage(input, 'message');
  return 'problem' in parsed ? parsed.problem : undefined;
}

describe('parseInputMessage', () => {
  test.each<[string, unknown, unknown]>([
    ['a bare string', 'hi', { role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    ['{"text"}', { text: 'hi' }, { role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    [
      '{"text"} with nulls for what is absent',
      { text: 'hi', role: null, content: null, id: 'x' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ],
    ['a message', { role: 'user', content: 'hi' }, { role: 'user', content: 'hi' }],
    ['content without a role', { content: 'hi' }, { role: 'user', content: 'hi' }],
    ['an image alone', { content: [image] }, { role: 'user', content: [image] }],
    [
      'an image with an empty text',
      { content: [{ type: 'text', text: '' }, image] },
      { role: 'user', content: [{ type: 'text', text: '' }, image] },
    ],
    [
      'a custom message',
      { role: 'custom', customType: 'note', content: 'hi', details: { a: [1, null] } },
      { role: 'custom', customType: 'note', content: 'hi', details: { a: [1, null] } },
    ],
    [
      'fields that no message has: they are left out, at every depth',
      { role: 'user', content: [{ ...image, junk: nested(10) }], usage: null, timestamp: 1 },
      { role: 'user', content: [image] },
    ],
    ['a single space', ' ', { role: 'user', content: [{ type: 'text', text: ' ' }] }],
  ])('reads %s', (_, input, value) => {
    expect(parseInputMessage(input, 'message')).toEqual({ value });
  });

  test.each<[unknown, string]>([
    ['', 'message: the text is empty.'],
    [{ text: '' }, 'message: the text is empty.'],
    [{ text: 5 }, 'message.text: expected a string, got 5.'],
    [undefined, 'message: expected a string, {"text": …} or a message, got nothing.'],
    [null, 'message: expected a string, {"text": …} or a message, got null.'],
    [42, 'message: expected a string, {"text": …} or a message, got 42.'],
    [-0, 'message: expected a string, {"text": …} or a message, got 0.'],
    [['hi'], 'message: expected a string, {"text": …} or a message, got a list.'],
    [{}, 'message.content: expected a string or a list of text and image blocks, got nothing.'],
    [{ content: '' }, 'message.content: the text is empty.'],
    [{ content: [] }, 'message.content: the list is empty.'],
    [{ content: [{ type: 'text', text: '' }] }, 'message.content: the text is empty.'],
    [{ content: listWithHole }, 'message.content[0]: expected a block, got nothing.'],
    [{ content: ['x'] }, 'message.content[0]: expected a block, got "x".'],
    [{ content: [[]] }, 'message.content[0]: expected a block, got a list.'],
    [{ content: [{}] }, 'message.content[0].type: expected text or image, got nothing.'],
    [
      { content: [image, { type: 'audio' }] },
      'message.content[1].type: expected text or image, got "audio".',
    ],
    [
      { content: [{ type: 'text', text: 1 }] },
      'message.content[0].text: expected a string, got 1.',
    ],
    [
      { content: [{ type: 'image', data: 'x y', mimeType: 'image/png' }] },
      'message.content[0].data: expected base64 data, got "x y".',
    ],
    [
      { content: [{ type: 'image', data: '', mimeType: 'image/png' }] },
      'message.content[0].data: expected base64 data, got "".',
    ],
    [
      { content: [{ type: 'image', data: 'data:image/png;base64,aGk=', mimeType: 'image/png' }] },
      'message.content[0].data: expected base64 data, got "data:image/png;base64,aGk=".',
    ],
    [
      { content: [{ type: 'image', data: 'aGk=', mimeType: 'text/html' }] },
      'message.content[0].mimeType: expected a mime type like image/png, got "text/html".',
    ],
    [
      { role: 'assistant', content: 'x' },
      'message.role: expected user or custom, got "assistant".',
    ],
    [
      JSON.parse('{"role":"__proto__","text":"x"}'),
      'message.role: expected user or custom, got "__proto__".',
    ],
    [{ role: 'custom', content: 'x' }, 'message.customType: expected a name, got nothing.'],
    [
      { role: 'custom', content: 'x', customType: '' },
      'message.customType: expected a name, got "".',
    ],
    [
      { role: 'custom', customType: 'a', text: 'x' },
      'message.content: expected a string or a list of text and image blocks, got nothing.',
    ],
    [
      { role: 'custom', customType: 'a', content: 'x', details: nested(10_000) },
      'message: nested deeper than 128 levels.',
    ],
    [{ text: 'x', junk: nested(1_000_000) }, 'message: nested deeper than 128 levels.'],
  ])('refuses input %# in one sentence that names the field', (input, problem) => {
    expect(problemOf(input)).toBe(problem);
  });

  test('a field of Object.prototype is none that was sent', () => {
    const inherited = Object.create({ text: 'x', role: 'custom', content: 'y' }) as object;
    expect(problemOf(inherited)).toContain('message.content: expected');
    expect(problemOf({ constructor: 'x', toString: 'y' })).toContain('message.content: expected');
    expect(problemOf(JSON.parse('{"__proto__":{"text":"x"}}'))).toContain('message.content');
  });

  test('a problem stays short however large the value', () => {
    expect(problemOf({ role: 'x'.repeat(1_000_000) })?.length).toBeLessThan(150);
    expect(problemOf({ content: ['🦉'.repeat(1_000_000)] })?.length).toBeLessThan(150);
  });
});

describe('parsePrompt', () => {
  test('takes one message or a list of them', () => {
    const hi = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
    expect(parsePrompt('hi', 'prompt')).toEqual({ value: [hi] });
    expect(parsePrompt(['hi', { content: [image] }], 'prompt')).toEqual({
      value: [hi, { role: 'user', content: [image] }],
    });
  });

  test.each<[unknown, string]>([
    [[], 'prompt: the list is empty.'],
    [['a', ''], 'prompt[1]: the text is empty.'],
    [
      Array.from({ length: 1_001 }, () => 'a'),
      'prompt: expected at most 1000 messages, got 1001; join some of them.',
    ],
    [
      ['a', ...listWithHole, 'b'],
      'prompt[1]: expected a string, {"text": …} or a message, got nothing.',
    ],
    [[['a']], 'prompt[0]: expected a string, {"text": …} or a message, got a list.'],
    [nested(10_000), 'prompt[0]: expected a string, {"text": …} or a message, got a list.'],
  ])('refuses prompt %# in one sentence that names the item', (input, problem) => {
    expect(parsePrompt(input, 'prompt')).toEqual({ problem });
  });
});
