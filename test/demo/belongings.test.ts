import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Belongings } from '../../src/demo/belongings.js';

describe('Belongings', () => {
  test('releases the last one first, and all of them when one fails', async () => {
    const released: string[] = [];
    const belongings = new Belongings();
    belongings.add(async () => released.push('first'));
    belongings.add(async () => {
      released.push('second');
      throw new Error('expected by this test');
    });
    await belongings.release();
    expect(released).toEqual(['second', 'first']);
  });

  test('waits for what is added while it releases', async () => {
    const released: string[] = [];
    const belongings = new Belongings();
    belongings.add(async () => {
      belongings.add(async () => {
        await sleep(20);
        released.push('late');
      });
      released.push('early');
    });
    await belongings.release();
    expect(released).toEqual(['early', 'late']);
  });
});
