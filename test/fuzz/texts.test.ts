// Texts and JSON: sizes, cuts, canonical text and digests, for values with everything that encoders get wrong.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf as digestOnWorker } from '../../src/activities/digest.js';
import { LiveOutput } from '../../src/activities/tools/live-output.js';
import {
  cutUtf8,
  isNestedTooDeeply,
  jsonSize,
  toCanonicalJson,
  utf8Length,
} from '../../src/protocol/json.js';
import type { JsonValue } from '../../src/protocol/json.js';
import { maxTailBytes } from '../../src/protocol/live-views.js';
import { plainText, plainValue } from '../../src/protocol/plain-value.js';
import { describe as describeValue, excerpt, wellFormed } from '../../src/protocol/text.js';
import { digestOf as digestInSandbox } from '../../src/workflows/digest.js';
import { cutEscaped, jsonSlice } from '../../src/workflows/json-slice.js';
import { holds } from './cases.js';
import { anyJson, anyText, longText, received } from './json-values.js';

const bytesOf = (text: string) => Buffer.byteLength(text, 'utf8');
const isPairAt = (text: string, at: number) =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));

describe('sizes', () => {
  test(
    'are the bytes that an encoder writes, of texts and of JSON',
    holds(
      fc.property(anyText, anyJson, (text, value) => {
        expect(utf8Length(text)).toBe(bytesOf(text));
        expect(jsonSize(value)).toBe(bytesOf(JSON.stringify(value)));
      }),
    ),
  );
});

describe('cutUtf8', () => {
  test(
    'gives the longest start, or end, that fits and splits no pair',
    holds(
      fc.property(
        fc.oneof(anyText, longText(200)),
        fc.nat(60),
        fc.boolean(),
        (text, max, fromEnd) => {
          const cut = cutUtf8(text, max, fromEnd);
          expect(fromEnd ? text.endsWith(cut) : text.startsWith(cut)).toBe(true);
          expect(bytesOf(cut)).toBeLessThanOrEqual(max);
          if (cut === text) return;
          const at = fromEnd ? text.length - cut.length : cut.length;
          expect(isPairAt(text, at)).toBe(false);
          // A character more would not fit.
          const next = fromEnd
            ? text.slice(at - (isPairAt(text, at - 1) ? 2 : 1))
            : text.slice(0, at + (isPairAt(text, at + 1) ? 2 : 1));
          expect(bytesOf(next)).toBeGreaterThan(max);
        },
      ),
    ),
  );
});

describe('texts for people', () => {
  test(
    'are well-formed and short',
    holds(
      fc.property(fc.oneof(anyText, longText(300)), fc.nat(80), (text, max) => {
        const whole = wellFormed(text);
        expect(whole).toBe(Buffer.from(text).toString());
        expect(wellFormed(whole)).toBe(whole);
        const cut = excerpt(text, max);
        expect(Buffer.from(cut).toString()).toBe(cut);
        expect(cut.length).toBeLessThanOrEqual(max + 1);
        if (text.length <= max) expect(cut).toBe(whole);
        else expect(whole.startsWith(cut.slice(0, -1)) && cut.endsWith('…')).toBe(true);
      }),
    ),
  );

  test(
    'tell of any value in a few characters',
    holds(
      fc.property(
        fc.oneof(anyJson, longText(500), fc.bigInt(), fc.constant(undefined)),
        (value) => {
          const text = describeValue(value);
          expect(text.length).toBeGreaterThan(0);
          expect(text.length).toBeLessThanOrEqual(61);
          expect(Buffer.from(text).toString()).toBe(text);
        },
      ),
    ),
  );
});

/** The same value with the fields of its objects in the opposite order. */
function turned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => turned(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [key, turned(field as JsonValue)]);
  return Object.fromEntries(entries.toReversed()) as JsonValue;
}

describe('canonical JSON and digests', () => {
  test(
    'are the same whatever the order of fields, and read back as the same value',
    holds(
      fc.property(anyJson, (value) => {
        const canonical = toCanonicalJson(value);
        expect(toCanonicalJson(turned(value))).toBe(canonical);
        expect(JSON.parse(canonical)).toEqual(received(value));
      }),
    ),
  );

  test(
    'are the same for what JavaScript has beside JSON, before and after its way through JSON',
    holds(
      fc.property(
        fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true }),
        (value) => {
          const text = JSON.stringify(value) as string | undefined;
          fc.pre(text !== undefined);
          expect(toCanonicalJson(value)).toBe(toCanonicalJson(JSON.parse(text as string)));
        },
      ),
    ),
  );

  test(
    'are the same in the sandbox and on a worker, and differ for different values',
    holds(
      fc.property(anyJson, anyJson, (one, other) => {
        expect(digestInSandbox(one)).toBe(digestOnWorker(one));
        expect(digestInSandbox(one)).toMatch(/^[\w-]{22}$/);
        const same = toCanonicalJson(one) === toCanonicalJson(other);
        expect(digestInSandbox(one) === digestInSandbox(other)).toBe(same);
      }),
    ),
  );
});

/** The value with its texts and keys replaced, and without fields named `__proto__`. */
function mapTexts(value: JsonValue, replace: (text: string) => string): JsonValue {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapTexts(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(
    entries.map(([key, field]) => [replace(key), mapTexts(field as JsonValue, replace)]),
  );
}

describe('plainValue', () => {
  test(
    'makes JSON without lone surrogates and NULs of anything',
    holds(
      fc.property(
        fc.oneof(
          fc.anything({
            withBigInt: true,
            withDate: true,
            withMap: true,
            withSet: true,
            withNullPrototype: true,
            withSparseArray: true,
            withTypedArray: true,
            withObjectString: true,
            values: [
              anyText,
              fc.constantFrom(Symbol('s'), () => 1, NaN, Infinity, undefined, new Error('bad')),
            ],
          }),
          anyJson.map((value) => {
            const circle: { self?: unknown; value: unknown } = { value };
            circle.self = [circle];
            return circle;
          }),
        ),
        (value) => {
          const plain = plainValue(value);
          expect(received(plain)).toEqual(plain);
          const texts: string[] = [];
          mapTexts(plain, (text) => {
            texts.push(text);
            return text;
          });
          expect(texts.filter((text) => /\p{Surrogate}|\0/u.test(text))).toEqual([]);
          expect(plainValue(plain)).toEqual(plain);
        },
      ),
    ),
  );

  test(
    'leaves JSON as it is, but for what it replaces in texts',
    holds(
      fc.property(anyJson, (value) => {
        const expected = mapTexts(value, plainText);
        fc.pre(!JSON.stringify(value).includes('toJSON'));
        expect(toCanonicalJson(plainValue(value))).toBe(toCanonicalJson(expected));
      }),
    ),
  );
});

describe('slices of JSON', () => {
  test(
    'fit, go on, split no pair and make the whole again',
    holds(
      fc.property(
        fc.oneof(anyJson, longText(1_000)),
        fc.integer({ min: 20, max: 400 }),
        (value, max) => {
          let whole = '';
          for (let offset: number | undefined = 0; offset !== undefined;) {
            const { text, end }: ReturnType<typeof jsonSlice> = jsonSlice(value, offset, max);
            expect(bytesOf(JSON.stringify(text))).toBeLessThanOrEqual(max);
            expect(text).not.toBe('');
            expect(Buffer.from(text).toString()).toBe(text);
            whole += text;
            offset = end;
          }
          expect(whole).toBe(JSON.stringify(value));
        },
      ),
    ),
  );

  test(
    'cutEscaped gives a start that fits as a string of JSON, and nearly as much as fits',
    holds(
      fc.property(
        fc.oneof(anyText, longText(500)),
        fc.integer({ min: 2, max: 300 }),
        (text, max) => {
          const cut = cutEscaped(text, max);
          expect(text.startsWith(cut)).toBe(true);
          expect(bytesOf(JSON.stringify(cut))).toBeLessThanOrEqual(max);
          if (bytesOf(JSON.stringify(text)) <= max) expect(cut).toBe(text);
        },
      ),
    ),
  );
});

describe('isNestedTooDeeply', () => {
  test(
    'knows the depth of any value',
    holds(
      fc.property(anyJson, fc.nat(8), (value, max) => {
        const depth = (of: JsonValue): number =>
          typeof of === 'object' && of !== null
            ? 1 + Math.max(0, ...Object.values(of).map((item) => depth(item as JsonValue)))
            : 0;
        expect(isNestedTooDeeply(value, max)).toBe(depth(value) > max);
      }),
    ),
  );
});

describe('the end of a growing text', () => {
  test(
    'is its last 8 KB of whole characters, however it grew',
    holds(
      fc.property(fc.array(fc.oneof(anyText, longText(9_000)), { maxLength: 6 }), (parts) => {
        const output = new LiveOutput();
        for (const part of parts) output.append(part);
        const { offset, tail } = output.view;
        const whole = parts.join('');
        expect(whole.slice(offset)).toBe(tail);
        expect(bytesOf(tail)).toBeLessThanOrEqual(maxTailBytes);
        expect(offset + tail.length).toBe(whole.length);
        expect(isPairAt(whole, offset)).toBe(false);
        if (bytesOf(whole) <= maxTailBytes) expect(tail).toBe(whole);
        else expect(bytesOf(tail)).toBeGreaterThan(maxTailBytes - 4);
      }),
    ),
  );
});
