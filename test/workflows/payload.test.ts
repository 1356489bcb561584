import { describe, expect, test } from 'vitest';
import { decodePayload, queryArgument, wholeNumber } from '../../src/workflows/payload.js';
import { rawBytes, rawOf } from '../support/fake-session.js';

describe('decodePayload', () => {
  test.each([['text'], [0], [false], [''], [[1]], [{ a: 1 }]])('reads %j', (value) => {
    expect(decodePayload(rawOf(value))).toEqual({ kind: 'value', value });
  });

  test('no argument, null and undefined are absent', () => {
    expect(decodePayload(undefined)).toEqual({ kind: 'absent' });
    expect(decodePayload(rawOf(null))).toEqual({ kind: 'absent' });
    expect(decodePayload(rawOf(undefined))).toEqual({ kind: 'absent' });
  });

  test.each([
    ['broken JSON', rawBytes('{"a":')],
    ['no JSON at all', rawBytes('')],
    ['bytes that are no UTF-8', rawBytes(Buffer.from([0xff, 0xfe, 0x00]))],
    ['an unknown encoding', rawBytes('{}', 'application/x-unknown')],
    ['Protocol Buffers', rawBytes('{}', 'json/protobuf')],
    ['binary data', rawOf(new Uint8Array([1, 2, 3]))],
    ['a payload without metadata', { payload: { data: Buffer.from('{}') } } as never],
    ['a payload with nothing in it', { payload: {} } as never],
    ['JSON that breaks inside a surrogate pair', rawBytes(`${'🦉'.repeat(50)}"`)],
    ['JSON of 1 MB that breaks', rawBytes('['.repeat(1_000_000))],
  ])('%s is undecodable, for a reason that is short and well-formed', (_, raw) => {
    const decoded = decodePayload(raw);
    expect(decoded).toMatchObject({ kind: 'undecodable', reason: expect.stringContaining('JSON') });
    const reason = 'reason' in decoded ? decoded.reason : '';
    expect(reason.length).toBeLessThan(300);
    expect(Buffer.from(reason).toString()).toBe(reason);
  });
});

describe('queryArgument', () => {
  test('is the object, or an empty one for anything else', () => {
    expect(queryArgument(rawOf({ after: 5 }))).toEqual({ after: 5 });
    for (const raw of [undefined, rawOf(null), rawOf(5), rawOf('x'), rawBytes('{')]) {
      expect(queryArgument(raw)).toEqual({});
    }
  });
});

describe('wholeNumber', () => {
  test.each([0, 1, 2 ** 53 - 1])('%d is one', (value) => {
    expect(wholeNumber(value)).toBe(value);
  });

  test.each([[-1], [1.5], [2 ** 53], [Infinity], [Number.NaN], ['5'], [null], [true], [[5]], [{}]])(
    '%j is none',
    (value) => {
      expect(wholeNumber(value)).toBeUndefined();
    },
  );
});
