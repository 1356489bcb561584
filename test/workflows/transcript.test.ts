import { describe, expect, test } from 'vitest';
import { digestOf as digestOnWorker } from '../../src/activities/digest.js';
import type { Message, Untimed } from '../../src/protocol/messages.js';
import { Transcript } from '../../src/workflows/transcript.js';
import { expectFits, readTranscript } from '../support/pages.js';

const user = (content: string): Untimed => ({ role: 'user', content });

function transcriptOf(...contents: readonly string[]): Transcript {
  const transcript = new Transcript();
  for (const [index, content] of contents.entries()) transcript.append(user(content), index);
  return transcript;
}

describe('the transcript', () => {
  test('gives a message its time, unless it has one of its own', () => {
    const transcript = new Transcript();
    expect(transcript.append(user('a'), 5)).toBe(0);
    expect(transcript.append({ ...user('b'), timestamp: 3 } as Message, 6)).toBe(1);
    expect(transcript.append({ ...user('c'), timestamp: undefined } as never, 7)).toBe(2);
    expect(transcript.messages.map(({ timestamp }) => timestamp)).toEqual([5, 3, 7]);
  });

  test('a reference lists what was added since the previous model call, and nothing twice', () => {
    const transcript = transcriptOf('a', 'b');
    const first = transcript.reference();
    expect(first).toMatchObject({ length: 2, base: '', added: [{}, {}] });
    expect(first.added).toHaveLength(2);
    transcript.markModelCall();
    expect(transcript.reference()).toEqual({
      length: 2,
      digest: first.digest,
      base: first.digest,
      added: [],
    });
    transcript.append(user('c'), 9);
    const second = transcript.reference();
    expect(second).toMatchObject({ length: 3, base: first.digest });
    expect(second.added).toEqual([[digestOnWorker(user('c')), 9]]);
  });

  test('a reference stays small however many messages were added: then it says only where they lead', () => {
    const transcript = transcriptOf(...Array.from({ length: 500 }, (_, i) => `${i}`));
    expect(transcript.reference().added).toHaveLength(500);
    transcript.append(user('one more'), 1_000);
    const { digest } = transcript.reference();
    expect(transcript.reference()).toEqual({ length: 501, digest, base: digest, added: [] });
  });

  test('transcripts that differ in one message, one time or the order have other digests', () => {
    const digests = [
      transcriptOf(),
      transcriptOf('a'),
      transcriptOf('b'),
      transcriptOf('a', 'b'),
      transcriptOf('b', 'a'),
      transcriptOf('a', 'a'),
    ].map((transcript) => transcript.reference().digest);
    const later = new Transcript();
    later.append(user('a'), 1);
    expect(new Set([...digests, later.reference().digest]).size).toBe(digests.length + 1);
  });
});

describe('pages of the transcript', () => {
  test('messages whose sizes lie around a page are read whole', () => {
    for (let length = 198_900; length < 200_100; length += 37) {
      const transcript = transcriptOf('a', 'x'.repeat(length), 'b');
      expect(readTranscript(transcript).messages).toEqual(transcript.messages);
    }
  });

  test('small messages share a page', () => {
    const transcript = transcriptOf(...Array.from({ length: 1_000 }, (_, i) => `message ${i}`));
    expect(readTranscript(transcript).pages).toBe(1);
  });

  test('1.8 MB of control characters take no more slices than their escaped size needs', () => {
    const transcript = transcriptOf('\u0001'.repeat(300_000));
    const { messages, pages } = readTranscript(transcript);
    expect(messages).toEqual(transcript.messages);
    // Each is 7 bytes as a slice carries it.
    expect(pages).toBeLessThanOrEqual(Math.ceil((300_000 * 7) / 190_000));
  });

  test.each([1, 2, 3, 7])('a limit of %i is kept, and nothing is lost', (limit) => {
    const transcript = transcriptOf('a', 'b', 'x'.repeat(300_000), 'c', 'd');
    const first = transcript.page({ limit });
    expect(first.messages.length).toBeLessThanOrEqual(limit);
    expect(readTranscript(transcript, { limit }).messages).toEqual(transcript.messages);
  });

  test.each([3, 4, 1_000, Number.MAX_SAFE_INTEGER])(
    'from %i, at or beyond the end, is an empty last page',
    (from) => {
      expect(transcriptOf('a', 'b', 'c').page({ from })).toEqual({ messages: [], length: 3 });
    },
  );

  test('an empty transcript is one empty page', () => {
    expect(new Transcript().page({})).toEqual({ messages: [], length: 0 });
  });

  test.each([1, 40, 10_000, Number.MAX_SAFE_INTEGER])(
    'offset %i into a small message gives the rest of it and goes on with the next',
    (offset) => {
      const page = transcriptOf('a', 'b').page({ from: 0, offset });
      expectFits(page);
      expect(page.slice).toMatchObject({ index: 0, offset });
      expect(page.next).toEqual({ from: 1 });
    },
  );

  test('an offset inside a surrogate pair is answered', () => {
    const page = transcriptOf('🦉'.repeat(100_000)).page({ from: 0, offset: 31 });
    expectFits(page);
    expect(page.next?.offset).toBeGreaterThan(31);
  });
});
