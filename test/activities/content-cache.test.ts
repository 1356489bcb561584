import { describe, expect, test } from 'vitest';
import { ContentCache } from '../../src/activities/content-cache.js';
import { digestOf } from '../../src/activities/digest.js';
import type { MessageReference } from '../../src/protocol/activities.js';

describe('contents', () => {
  test('are as the workflow would decode them: dates are texts, NaN is null, nothing is undefined', () => {
    const cache = new ContentCache(10_000);
    const digest = cache.put({
      at: new Date(0),
      n: Number.NaN,
      list: [undefined],
      gone: undefined,
    });
    expect(cache.get(digest)).toStrictEqual({
      at: '1970-01-01T00:00:00.000Z',
      n: null,
      list: [null],
    });
  });

  test('keep the order of their fields, as what is sent to a provider is made from them', () => {
    const cache = new ContentCache(10_000);
    const digest = cache.put({ z: 1, a: { y: 1, b: 2 } });
    expect(JSON.stringify(cache.get(digest))).toBe('{"z":1,"a":{"y":1,"b":2}}');
  });

  test('are frozen at every depth', () => {
    const cache = new ContentCache(10_000);
    const kept = cache.get(cache.put({ list: [{ deep: { a: 1 } }] })) as {
      list: { deep: { a: number } }[];
    };
    expect(() => kept.list.push({ deep: { a: 2 } })).toThrow(TypeError);
    expect(() => {
      (kept.list[0] as { deep: { a: number } }).deep.a = 2;
    }).toThrow(TypeError);
  });

  test('are copies: what produced a value may go on changing it', () => {
    const cache = new ContentCache(10_000);
    const value = { list: [1], bytes: new Uint8Array(3), half: Object.freeze({ inner: [1] }) };
    const digest = cache.put(value);
    value.list.push(2);
    value.half.inner.push(2);
    expect(cache.get(digest)).toMatchObject({ list: [1], half: { inner: [1] } });
  });

  test('of any kind are kept, also those that are false', () => {
    const cache = new ContentCache(10_000);
    for (const value of ['', 'text', [], {}, 0, false, null]) {
      expect(cache.get(cache.put(value as object))).toEqual(value);
    }
  });

  test('that are unknown are undefined', () => {
    expect(new ContentCache(1_000).get('unknown')).toBeUndefined();
  });
});

describe('the bound', () => {
  test('is in bytes of UTF-8: the least recently used go', () => {
    const cache = new ContentCache(800_000);
    const text = (i: number) => `${i}${'漢'.repeat(30_000)}`;
    const digests = Array.from({ length: 5 }, (_, i) => {
      const digest = cache.put(text(i));
      cache.get(digestOf(text(0)));
      return digest;
    });
    // 700,000 bytes hold seven of 90,000.
    expect(digests.filter((digest) => cache.get(digest) !== undefined)).toEqual(digests);
    for (let i = 5; i < 10; i++) {
      cache.put(text(i));
      cache.put(text(0));
    }
    const left = Array.from({ length: 10 }, (_, i) => i).filter(
      (i) => cache.get(digestOf(text(i))) !== undefined,
    );
    expect(left).toEqual([0, 4, 5, 6, 7, 8, 9]);
  });

  test('a value larger than the cache is not kept, and costs no other', () => {
    const cache = new ContentCache(100_000);
    const small = cache.put('small');
    expect(cache.get(cache.put('x'.repeat(200_000)))).toBeUndefined();
    expect(cache.get(small)).toBe('small');
  });

  test('many small values count with what an entry costs', () => {
    const cache = new ContentCache(100_000);
    for (let i = 0; i < 10_000; i++) cache.put(i as unknown as object);
    const left = Array.from({ length: 10_000 }, (_, i) => cache.get(digestOf(i)));
    expect(left.filter((value) => value !== undefined).length).toBeLessThan(300);
  });

  test.each([0, 1, 100])('a cache of %i bytes works and holds next to nothing', (bytes) => {
    const cache = new ContentCache(bytes);
    expect(cache.get(cache.put({ a: 'x'.repeat(100) }))).toBeUndefined();
    cache.link('', ['a', 1]);
    expect(cache.chain('unknown')).toBeUndefined();
  });
});

describe('the chain', () => {
  const references: readonly MessageReference[] = [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ];

  function linked(cache: ContentCache, list: readonly MessageReference[]): string {
    let digest = '';
    for (const reference of list) digest = cache.link(digest, reference);
    return digest;
  }

  test('gives the references that lead to a digest, oldest first', () => {
    const cache = new ContentCache(100_000);
    expect(cache.chain('')).toEqual([]);
    expect(cache.chain(linked(cache, references))).toEqual(references);
  });

  test('is unknown when one link is gone', () => {
    const cache = new ContentCache(100_000);
    const [first, ...rest] = references;
    const lost = new ContentCache(100_000);
    let digest = lost.link('', first as MessageReference);
    for (const reference of rest) digest = cache.link(digest, reference);
    expect(cache.chain(digest)).toBeUndefined();
  });

  test('branches with the same beginning stay apart', () => {
    const cache = new ContentCache(100_000);
    const other: readonly MessageReference[] = [references[0] as MessageReference, ['x', 2]];
    const [one, two] = [linked(cache, references), linked(cache, other)];
    expect(cache.chain(one)).toEqual(references);
    expect(cache.chain(two)).toEqual(other);
  });

  test('the same messages at another time are another chain', () => {
    const cache = new ContentCache(100_000);
    const later = references.map(([digest, at]): MessageReference => [digest, at + 1]);
    expect(linked(cache, later)).not.toBe(linked(cache, references));
  });
});
