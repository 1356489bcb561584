import { describe, expect, test } from 'vitest';
import { createRememberedIds } from '../../src/workflows/remembered-ids.js';

describe('remembered ids', () => {
  test('an id is known with what became of it', () => {
    const ids = createRememberedIds();
    expect(ids.outcomeOf('a')).toBeUndefined();
    ids.remember('a', { outcome: 'rejected', reason: 'busy' });
    expect(ids.outcomeOf('a')).toEqual({ outcome: 'rejected', reason: 'busy' });
  });

  test('a known id keeps its first outcome', () => {
    const ids = createRememberedIds();
    ids.remember('a', { outcome: 'started' });
    ids.remember('a', { outcome: 'queued' });
    expect(ids.outcomeOf('a')).toEqual({ outcome: 'started' });
    expect(ids.entries()).toHaveLength(1);
  });

  test('the last 1,000 are remembered, the oldest is forgotten first', () => {
    const ids = createRememberedIds();
    for (let index = 0; index < 1_001; index++) ids.remember(`id-${index}`, { outcome: 'queued' });
    expect(ids.entries()).toHaveLength(1_000);
    expect(ids.outcomeOf('id-0')).toBeUndefined();
    expect(ids.outcomeOf('id-1')).toEqual({ outcome: 'queued' });
    expect(ids.outcomeOf('id-1000')).toEqual({ outcome: 'queued' });
  });

  test('what is carried over forgets in the same order', () => {
    const before = createRememberedIds([], 2);
    before.remember('a', { outcome: 'queued' });
    before.remember('b', { outcome: 'queued' });
    const after = createRememberedIds(JSON.parse(JSON.stringify(before.entries())), 2);
    after.remember('c', { outcome: 'accepted' });
    expect(after.entries().map(([id]) => id)).toEqual(['b', 'c']);
  });

  test.each(['__proto__', 'constructor', ''])('%j is an id like any other', (id) => {
    const ids = createRememberedIds();
    expect(ids.outcomeOf(id)).toBeUndefined();
    ids.remember(id, { outcome: 'queued' });
    expect(ids.outcomeOf(id)).toEqual({ outcome: 'queued' });
  });
});
