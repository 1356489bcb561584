// Secrets in texts: in every form that is known, in any surroundings, and in pieces.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/activities/secrets.js';
import type { JsonValue } from '../../src/protocol/json.js';
import { holds } from './cases.js';
import { anyText } from './json-values.js';
import { piecesOf } from './provider-script.js';

const keyCharacters = 'abcXYZ019-_+/=.:%"\\ ~';
const secret = fc.oneof(
  fc.string({
    unit: fc.constantFrom(...keyCharacters.split('')),
    minLength: 8,
    maxLength: 40,
  }),
  fc.constantFrom(
    'aaaaaaaa',
    'abababababab',
    'sk-1234567890abcdef',
    'pass wörd 🦉!',
    'Bearer tok-1234567',
  ),
  anyText.map((text) => `${text}12345678`),
);

interface Hidden {
  readonly secret: number;
  readonly form:
    | 'plain'
    | 'json'
    | 'url'
    | 'url-plus'
    | 'lower-url'
    | 'base64'
    | 'base64url'
    | 'wrapped';
  readonly before: string;
  readonly after: string;
}

const hidden: fc.Arbitrary<Hidden> = fc.record({
  secret: fc.nat(5),
  form: fc.constantFrom<Hidden['form']>(
    'plain',
    'json',
    'url',
    'url-plus',
    'lower-url',
    'base64',
    'base64url',
    'wrapped',
  ),
  before: anyText,
  after: anyText,
});

const urlOf = (text: string) => encodeURIComponent(Buffer.from(text).toString());

/** The secret as a program may write it, with what stands around it. */
function written(value: string, { form, before, after }: Hidden): string {
  const around = Buffer.from(`${before}${value}${after}`);
  switch (form) {
    case 'plain':
      return `${before}${value}${after}`;
    case 'json':
      return JSON.stringify(`${before}${value}${after}`);
    case 'url':
      return `${before}?key=${urlOf(value)}&x=1`;
    case 'url-plus':
      return `${before}?key=${urlOf(value).replaceAll('%20', '+')}&x=1`;
    case 'lower-url':
      return `?key=${urlOf(value).replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())}`;
    case 'base64':
      return around.toString('base64');
    case 'base64url':
      return around.toString('base64url');
    case 'wrapped':
      return around.toString('base64').replace(/(.{64})/g, '$1\n');
  }
}

/** Whether any of the forms is in the text, looked for in the plainest way. */
function leaks(text: string, value: string): boolean {
  const joined = text.replace(/\r?\n/g, '');
  const url = urlOf(value);
  const plain = [value, JSON.stringify(value).slice(1, -1), url, url.replaceAll('%20', '+')];
  if (plain.some((form) => text.includes(form))) return true;
  return [0, 1, 2].some((shift) => {
    const padded = Buffer.concat([Buffer.alloc(shift), Buffer.from(value), Buffer.alloc(2)]);
    const from = Math.ceil((8 * shift) / 6);
    const to = Math.floor((8 * (shift + Buffer.byteLength(value))) / 6);
    const core = padded.toString('base64').slice(from, to);
    return joined.includes(core) || joined.includes(core.replaceAll('+', '-').replaceAll('/', '_'));
  });
}

/** What the redactor writes itself must not look like a secret. */
const names = ['KEY_A', 'KEY_B', 'KEY_C'];

const setting = fc
  .record({
    secrets: fc.array(secret, { minLength: 1, maxLength: 3 }),
    hidden: fc.array(hidden, { minLength: 1, maxLength: 4 }),
  })
  .filter(({ secrets }) =>
    secrets.every(
      (value) => value.length >= 8 && !'[redacted KEY_A][redacted KEY_B]'.includes(value),
    ),
  )
  .map(({ secrets, hidden: places }) => {
    const redactor = createRedactor();
    for (const [index, value] of secrets.entries()) redactor.register(names[index] ?? '', value);
    const text = places
      .map((place) => written(secrets[place.secret % secrets.length] ?? '', place))
      .join(' · ');
    return { redactor, secrets, text };
  });

describe('a redactor', () => {
  test(
    'lets no secret through in any of its forms, whatever stands around it',
    holds(
      fc.property(setting, ({ redactor, secrets, text }) => {
        const redacted = redactor.redact(text);
        expect(secrets.filter((value) => leaks(redacted, value))).toEqual([]);
      }),
    ),
  );

  test(
    'finds the same wherever the text is cut into pieces',
    holds(
      fc.property(
        setting,
        fc.array(fc.nat(2_000), { maxLength: 20 }),
        ({ redactor, text }, cuts) => {
          const stream = redactor.stream();
          const whole = redactor.redact(text);
          let shown = '';
          for (const piece of piecesOf(text, cuts)) {
            shown += stream.push(piece);
            expect(whole.startsWith(shown)).toBe(true);
          }
          expect(shown + stream.end()).toBe(whole);
        },
      ),
    ),
  );

  test(
    'keeps every text without a secret, and the shape of JSON',
    holds(
      fc.property(setting, anyText, ({ redactor, secrets, text }, other) => {
        if (!secrets.some((value) => leaks(other, value))) {
          expect(redactor.redact(other)).toBe(other);
        }
        const value: JsonValue = { [text]: [text, 1, null, { deep: text }], same: true };
        const redacted = redactor.redact(text);
        expect(redactor.redactJson(value)).toEqual({
          [redacted]: [redacted, 1, null, { deep: redacted }],
          same: true,
        });
      }),
    ),
  );
});
