import { describe, expect, test } from 'vitest';
import { SuspensionWatch } from '../../src/activities/suspension.js';

describe('SuspensionWatch', () => {
  test('doubts nothing while the process runs, also where it is busy for a second', () => {
    const watch = new SuspensionWatch(0);
    for (const now of [250, 500, 1_500, 1_750]) watch.tick(now);
    expect(watch.isDoubtful(2_900)).toBe(false);
  });

  test('doubts what begins before the first tick after a stop', () => {
    const watch = new SuspensionWatch(0);
    watch.tick(250);
    expect(watch.isDoubtful(10_000)).toBe(true);
  });

  test('doubts what begins within five seconds after a stop, and nothing later', () => {
    const watch = new SuspensionWatch(0);
    watch.tick(10_000);
    watch.tick(10_250);
    expect(watch.isDoubtful(10_300)).toBe(true);
    for (let now = 10_500; now <= 15_000; now += 250) watch.tick(now);
    expect(watch.isDoubtful(15_100)).toBe(false);
  });
});
