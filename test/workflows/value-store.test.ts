import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/activities/digest.js';
import { ValueStore } from '../../src/workflows/value-store.js';
import { readValue } from '../support/pages.js';

describe('ValueStore', () => {
  test.each(['"', '\u0001', '🦉', '\ud800', 'x'])(
    'a value of 1 MB of %j comes in pages that fit',
    (piece) => {
      const store = new ValueStore();
      const value = { text: piece.repeat(1_000_000 / Buffer.byteLength(piece)) };
      expect(readValue(store, store.keep(value))).toEqual(value);
    },
  );

  test('a value of the batch goes with it', () => {
    const store = new ValueStore();
    const digest = store.keepForBatch({ a: 1 });
    store.forgetBatch();
    expect(() => store.page({ digest })).toThrow('Nothing with the digest');
  });

  test('a value that the session keeps stays, whichever came first', () => {
    const store = new ValueStore();
    store.keep({ a: 1 });
    store.keepForBatch({ a: 1 });
    store.keepForBatch({ b: 1 });
    store.keep({ b: 1 });
    store.forgetBatch();
    expect(readValue(store, digestOf({ a: 1 }))).toEqual({ a: 1 });
    expect(readValue(store, digestOf({ b: 1 }))).toEqual({ b: 1 });
  });

  test.each(['', 'unknown', '__proto__', '\ud800', '🦉'.repeat(500_000), `${'x'.repeat(58)}🦉`])(
    'an unknown digest is refused in a short text that Protocol Buffers can carry: %#',
    (digest) => {
      let message = '';
      try {
        new ValueStore().page({ digest });
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toMatch(/^Nothing with the digest .{2,61} is in use\.$/s);
      expect(Buffer.from(message).toString()).toBe(message);
    },
  );
});
