import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/activities/digest.js';
import { digestOf as digestOfSandbox } from '../../src/workflows/digest.js';

describe('digestOf', () => {
  test('is the first 16 bytes of the SHA-256 of canonical JSON, in base64url', () => {
    // printf '{"a":1,"b":[true,null]}' | sha256sum
    expect(digestOf({ b: [true, null], a: 1, c: undefined })).toBe(
      Buffer.from('1cc69c7fa23616ca2ec3ee70d24390a6', 'hex').toString('base64url'),
    );
  });

  test.each([
    'text',
    '',
    'ünïcödé 🦉 \ud800 lone',
    42,
    null,
    [],
    { b: { d: 1, c: [1, { z: 1, y: 2 }] }, a: 'x'.repeat(10_000) },
  ])('agrees with the digest of the workflow sandbox: value %#', (value) => {
    expect(digestOf(value)).toBe(digestOfSandbox(value));
    expect(digestOf(value)).toHaveLength(22);
  });
});
