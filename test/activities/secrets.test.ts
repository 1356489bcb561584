import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, test } from 'vitest';
import {
  createRedactor,
  registerConfiguredSecrets,
  toRedactedFailure,
} from '../../src/activities/secrets.js';

const key = 'sk-proj-AbC/+=9"\\ö value-1234567890';

function redactorOf(value = key) {
  const redactor = createRedactor();
  redactor.register('API_KEY', value);
  return redactor;
}

describe('redact', () => {
  test('of keys that change with every call the last 100 are known, and others are not forgotten for them', () => {
    const redactor = redactorOf();
    const keyOf = (call: number) => `key-of-call-${String(call).padStart(4, '0')}`;
    for (let call = 0; call < 300; call++) redactor.register('getApiKey', keyOf(call));
    expect(redactor.redact(`${keyOf(299)} ${keyOf(200)} ${key}`)).toBe(
      '[redacted getApiKey] [redacted getApiKey] [redacted API_KEY]',
    );
    expect(redactor.redact(keyOf(0))).toBe(keyOf(0));
  });

  test.each([
    ['as it is', key],
    ['in JSON', JSON.stringify({ key }).slice(8, -2)],
    ['in a URL', encodeURIComponent(key)],
    [
      'in a URL with small letters',
      encodeURIComponent(key).replace(/%../g, (e) => e.toLowerCase()),
    ],
    ['in a form', new URLSearchParams({ key }).toString().slice(4)],
  ])('replaces a secret %s by its name', (_, written) => {
    expect(redactorOf().redact(`before ${written} after ${written}`)).toBe(
      'before [redacted API_KEY] after [redacted API_KEY]',
    );
  });

  test.each([0, 1, 2, 3])(
    'replaces a secret inside base64 of a longer text, %i bytes into it, in lines or not',
    (shift) => {
      const bytes = Buffer.from(`${'x'.repeat(shift)}${key}, and more that follows after it`);
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = bytes.toString(encoding);
        const secret = Buffer.from(key).toString(encoding).slice(6, -6);
        for (const length of [76, 64, 1000]) {
          const wrapped = encoded.replace(new RegExp(`.{${length}}`, 'g'), '$&\n');
          const redacted = redactorOf().redact(wrapped);
          expect(redacted).toContain('[redacted API_KEY]');
          expect(redacted.replaceAll('\n', '')).not.toContain(secret);
        }
      }
    },
  );

  test('ignores values of fewer than 8 characters, but knows their names', () => {
    const redactor = redactorOf('abcdefg');
    expect(redactor.redact('abcdefg')).toBe('abcdefg');
    expect(redactor.isSecretName('API_KEY')).toBe(true);
    expect(redactorOf('abcdefgh').redact('abcdefgh')).toBe('[redacted API_KEY]');
  });

  test('the token of a header is secret without its scheme', () => {
    const redactor = redactorOf('Bearer token-123456');
    expect(redactor.redact('got token-123456')).toBe('got [redacted API_KEY]');
  });

  test('where one secret is part of another, nothing of either is left', () => {
    const redactor = redactorOf('abcdef-123456');
    redactor.register('PART', 'def-123');
    redactor.register('NEXT', '456-more');
    expect(redactor.redact('<abcdef-123456-more>')).toBe('<[redacted API_KEY]>');
  });

  test('pattern characters in a value are only characters', () => {
    expect(redactorOf('a.b*c(d)$').redact('a.b*c(d)$ axbcd$')).toBe('[redacted API_KEY] axbcd$');
  });

  test('a secret registered while running is replaced from then on', () => {
    const redactor = createRedactor();
    expect(redactor.redact('late-key-1')).toBe('late-key-1');
    redactor.register('LATE', 'late-key-1');
    expect(redactor.redact('late-key-1')).toBe('[redacted LATE]');
  });

  test('a megabyte with several secrets registered keeps the worker responsive', () => {
    const redactor = createRedactor();
    for (let index = 0; index < 10; index++)
      redactor.register(`KEY_${index}`, `sk-${index}-${key}`);
    const text = 'Some ordinary output of a command, line after line.\n'.repeat(20_000);
    // Quadratic work on this would take minutes and end in the test's time-out.
    expect(redactor.redact(text)).toBe(text);
  });
});

describe('redactJson', () => {
  test('replaces in every string and key and keeps the shape', () => {
    const value = { [key]: [key, 1, null, { deep: `x${key}` }], same: true };
    expect(redactorOf().redactJson(value)).toEqual({
      '[redacted API_KEY]': ['[redacted API_KEY]', 1, null, { deep: 'x[redacted API_KEY]' }],
      same: true,
    });
  });
});

describe('a redacting stream', () => {
  const forms = [key, encodeURIComponent(key), Buffer.from(`y${key}yy`).toString('base64')];

  test.each(forms)('a secret that is split anywhere does not leak: %s', (form) => {
    const text = `before ${form} between ${form}\nafter`;
    const whole = redactorOf().redact(text);
    for (let size = 1; size <= form.length + 3; size++) {
      const stream = redactorOf().stream();
      let shown = '';
      for (let at = 0; at < text.length; at += size) {
        shown += stream.push(text.slice(at, at + size));
        expect(whole.startsWith(shown)).toBe(true);
      }
      expect(shown + stream.end()).toBe(whole);
    }
  });

  test('what merely begins like a secret comes through, at the latest at the end', () => {
    const stream = redactorOf().stream();
    const shown = stream.push(`a ${key.slice(0, 10)}`);
    expect(shown).toBe('a ');
    expect(stream.push('! b')).toBe(`${key.slice(0, 10)}! b`);
    expect(stream.push(key.slice(0, 5))).toBe('');
    expect(stream.end()).toBe(key.slice(0, 5));
  });

  test('a longer secret that begins with a shorter one is not left in part', () => {
    const redactor = redactorOf('abcdef');
    redactor.register('LONG', 'abcdef-ghijkl');
    const stream = redactor.stream();
    const shown = stream.push('x abcdef') + stream.push('-ghijkl y') + stream.end();
    expect(shown).toBe('x [redacted LONG] y');
  });

  test('a secret that begins inside another is not left in part, wherever the text is cut', () => {
    const redactor = redactorOf('abcdef-123456');
    redactor.register('NEXT', '456-more');
    redactor.register('SAME', 'zzzzzzzz');
    const text = `x abcdef-123456-more ${Buffer.from('zzzzzzzzzz').toString('base64')} y`;
    const whole = redactor.redact(text);
    for (let cut = 0; cut <= text.length; cut++) {
      const stream = redactor.stream();
      const shown = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end();
      expect(shown).toBe(whole);
    }
  });

  test('a secret that goes on for ever is not held back for ever', () => {
    const redactor = redactorOf('zzzzzzzz');
    const stream = redactor.stream();
    let shown = '';
    for (let i = 0; i < 1_000; i++) shown += stream.push('zzz');
    expect(shown).toMatch(/^(\[redacted API_KEY\])+$/);
  });

  test('text without anything like a secret is not held back', () => {
    expect(redactorOf().stream().push('plain text!')).toBe('plain text!');
  });
});

describe('registerConfiguredSecrets', () => {
  test('knows the variables that models name, and Temporal’s key', () => {
    const redactor = createRedactor();
    const models = {
      a: { apiKeyEnv: 'KEY_A' },
      b: { headersEnv: { 'x-auth': 'KEY_B' } },
      c: { apiKeyEnv: 'KEY_MISSING' },
    };
    const environment = {
      KEY_A: 'value-0a',
      KEY_B: 'value-0b',
      TEMPORAL_API_KEY: 'value-0t',
      OTHER: 'value-0o',
    };
    registerConfiguredSecrets(redactor, { models }, environment);
    expect(redactor.redact('value-0a value-0b value-0t value-0o')).toBe(
      '[redacted KEY_A] [redacted KEY_B] [redacted TEMPORAL_API_KEY] value-0o',
    );
    expect(redactor.isSecretName('KEY_MISSING')).toBe(true);
  });
});

describe('toRedactedFailure', () => {
  test('keeps type, retryability and delay, and redacts message and details', () => {
    const failure = toRedactedFailure(
      ApplicationFailure.create({
        type: 'Some',
        message: `bad key ${key}`,
        nonRetryable: true,
        details: [{ key }],
        cause: new Error(key),
      }),
      redactorOf(),
    );
    expect(failure).toMatchObject({
      type: 'Some',
      message: 'bad key [redacted API_KEY]',
      nonRetryable: true,
      details: [{ key: '[redacted API_KEY]' }],
      cause: undefined,
    });
    expect(failure.stack).not.toContain(key);
  });
});
