import { describe, expect, test } from 'vitest';
import {
  createQueue,
  enqueue,
  previewOf,
  summariesOf,
  summaryOf,
  takeBatch,
} from '../../src/workflows/queues.js';
import type { QueuedMessage } from '../../src/workflows/queues.js';
import { userMessage } from '../support/loop-values.js';

const image = { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' };
const steer = (text: string): QueuedMessage => ({ kind: 'steer', message: userMessage(text) });
const imageOnly = (): QueuedMessage => ({
  kind: 'steer',
  message: { role: 'user', content: [image] },
});

describe('queues', () => {
  test('one-at-a-time, the default: a poll takes the oldest message', () => {
    const queue = createQueue();
    enqueue(queue, steer('a'));
    enqueue(queue, steer('b'));
    expect(takeBatch(queue)).toEqual([userMessage('a')]);
    expect(takeBatch(queue)).toEqual([userMessage('b')]);
    expect(takeBatch(queue)).toEqual([]);
  });

  test('mode all: a poll takes everything, in order', () => {
    const queue = createQueue('all');
    enqueue(queue, steer('a'));
    enqueue(queue, steer('b'));
    expect(takeBatch(queue)).toEqual([userMessage('a'), userMessage('b')]);
    expect(queue.entries).toEqual([]);
  });

  test('a queue begins with what was carried into it', () => {
    const queue = createQueue('one-at-a-time', [steer('carried')]);
    enqueue(queue, steer('new'));
    expect(takeBatch(queue)).toEqual([userMessage('carried')]);
  });

  test('L27: of two equal image-only messages the oldest is taken, and the other stays', () => {
    const [first, second] = [imageOnly(), imageOnly()];
    const queue = createQueue('one-at-a-time', [first, second]);
    expect(takeBatch(queue)).toEqual([first.message]);
    expect(queue.entries).toHaveLength(1);
    expect(queue.entries[0]).toBe(second);
  });

  test('a summary has the kind, the id, a preview and how many images there are', () => {
    const entry: QueuedMessage = {
      kind: 'followUp',
      id: 'f-1',
      message: { role: 'user', content: [{ type: 'text', text: 'see' }, image, image] },
    };
    expect(summaryOf(entry)).toEqual({ kind: 'followUp', id: 'f-1', preview: 'see', images: 2 });
    expect(summaryOf(steer('plain'))).toEqual({ kind: 'steer', preview: 'plain' });
    expect(summaryOf(imageOnly())).toEqual({ kind: 'steer', preview: '', images: 1 });
  });

  test('a custom message is summarised by its content', () => {
    const message = { role: 'custom' as const, customType: 'note', content: 'remember' };
    expect(summaryOf({ kind: 'steer', message }).preview).toBe('remember');
  });

  test('a preview is the first 200 characters, and never half of one', () => {
    expect(previewOf(userMessage('x'.repeat(201)))).toBe('x'.repeat(200));
    expect(previewOf(userMessage('😀'.repeat(300)))).toBe('😀'.repeat(200));
    expect(previewOf(userMessage('x'.repeat(1_000_000)))).toHaveLength(200);
  });

  test('summaries name the oldest entries, as many as fit', () => {
    const entries = Array.from({ length: 5_000 }, (_, index) => steer(`message ${index}`));
    const summaries = summariesOf(entries, 4_000);
    expect(JSON.stringify(summaries).length).toBeLessThanOrEqual(4_000);
    expect(JSON.stringify(summaries).length).toBeGreaterThan(3_900);
    expect(summaries[0]?.preview).toBe('message 0');
    expect(summariesOf(entries.slice(0, 3), 4_000)).toHaveLength(3);
  });
});
