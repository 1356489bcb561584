import { describe, expect, test } from 'vitest';
import { MessageTooLarge } from '../../src/client/errors.js';
import { assertFits, promptSummary, toSignalArgument } from '../../src/client/inputs.js';
import { proposeWorkflowId } from '../../src/client/workflow-id.js';
import { utf8Length } from '../../src/protocol/json.js';
import { payloadLimits } from '../../src/protocol/limits.js';

describe('toSignalArgument', () => {
  test('each signal carries a new id', () => {
    expect(toSignalArgument('steer', 'a').id).not.toBe(toSignalArgument('steer', 'a').id);
  });

  test('text, blocks and whole messages keep their shape beside the id', () => {
    const blocks = [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] as const;
    expect(toSignalArgument('steer', 'Stop', { id: '1' })).toEqual({ text: 'Stop', id: '1' });
    expect(toSignalArgument('steer', blocks, { id: '1' })).toEqual({
      role: 'user',
      content: blocks,
      id: '1',
    });
    expect(
      toSignalArgument('prompt', { role: 'custom', customType: 'note', content: 'x' }, { id: '1' }),
    ).toEqual({ role: 'custom', customType: 'note', content: 'x', id: '1' });
    expect(toSignalArgument('close', undefined, { id: '1' })).toEqual({ id: '1' });
  });

  test('a message larger than a payload is refused with its size and what to do', () => {
    const send = () => toSignalArgument('steer', 'é'.repeat(payloadLimits.maxPayloadBytes / 2));
    expect(send).toThrow(MessageTooLarge);
    expect(send).toThrow(/steer message is 18000\d\d bytes.*at most 1800000.*file/s);
  });
});

describe('assertFits', () => {
  test('takes what is exactly as large as allowed and nothing larger', () => {
    const text = 'x'.repeat(payloadLimits.maxPayloadBytes - 2);
    expect(() => assertFits('input', text)).not.toThrow();
    expect(() => assertFits('input', `${text}x`)).toThrow(MessageTooLarge);
  });
});

describe('promptSummary', () => {
  test('is the prompt in one line', () => {
    expect(promptSummary('List\n  the files ')).toBe('List the files');
    expect(promptSummary({ prompt: ['One', { role: 'user', content: 'two' }] })).toBe('One two');
    expect(
      promptSummary({ prompt: { role: 'user', content: [{ type: 'text', text: 'Hi' }] } }),
    ).toBe('Hi');
  });

  test('is cut to 200 bytes between characters', () => {
    for (const character of ['x', 'é', '語', '😀']) {
      const summary = promptSummary(character.repeat(300)) ?? '';
      expect(utf8Length(summary)).toBeLessThanOrEqual(200);
      expect(utf8Length(summary)).toBeGreaterThan(190);
      expect(summary.replaceAll(character, '')).toBe('…');
    }
  });

  test('there is none without text', () => {
    expect(promptSummary({})).toBeUndefined();
    expect(promptSummary(' \n')).toBeUndefined();
  });
});

describe('proposeWorkflowId', () => {
  test('is short, readable and new each time', () => {
    const ids = new Set(Array.from({ length: 200 }, () => proposeWorkflowId()));
    expect(ids.size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[a-z]+-[a-z]+-[a-z2-9]{4}$/);
  });
});
