// Keeps the values of secrets that the worker resolved inside the worker: whatever leaves it (results,
// heartbeats, failures) goes through a redactor, which knows the values that were registered with it.
//
// This guards against a value being carried along, not against a program that means to disguise it: see
// `secret-forms.ts` for the forms that are recognised.

import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { beginsForm, secretForms } from './secret-forms.js';
import type { SecretForm } from './secret-forms.js';

/** Shorter values are ordinary words; replacing them would garble results and reveal where they stand. */
const minimumSecretLength = 8;

/** Values kept under one name: a hook may give another key for every call, and each costs a search. */
const keptValues = 100;

export interface Redactor {
  /**
   * Values of fewer than 8 characters are ignored; their names are remembered all the same. Of a name with
   * more than 100 values the latest are known.
   */
  register(name: string, value: string | undefined): void;
  /** Whether a variable of this name holds a secret. */
  isSecretName(name: string): boolean;
  /** `text` with each secret replaced by `[redacted NAME]`. */
  redact(text: string): string;
  /** The value with every string in it redacted, keys included. What JSON cannot carry stays as it is. */
  redactJson<T>(value: T): T;
  /** Redacts text that comes in pieces, also where a secret is split between two of them. */
  stream(): RedactingStream;
}

export interface RedactingStream {
  /** Takes a piece and gives what is certain; an end that may begin a secret is held back. */
  push(text: string): string;
  /** Gives what was held back. */
  end(): string;
}

interface Secret {
  readonly name: string;
  readonly forms: readonly SecretForm[];
}

export function createRedactor(): Redactor {
  const names = new Set<string>();
  const secrets = new Map<string, Secret>();

  const redact = (text: string) => {
    const matches = findSecrets(text, secrets.values());
    return matches.length === 0 ? text : replaceMatches(text, matches);
  };

  const redactJson = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value);
    if (Array.isArray(value)) return value.map((item) => redactJson(item));
    if (typeof value !== 'object' || value === null) return value;
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, field]) => [redact(key), redactJson(field)]));
  };

  return {
    register(name, value) {
      names.add(name);
      if (value === undefined) return;
      for (const part of [value, ...credentialsOf(value)]) {
        if (part.length < minimumSecretLength) continue;
        const known = secrets.get(part);
        // Put in again, so that the oldest stand first.
        secrets.delete(part);
        secrets.set(part, known ?? { name, forms: secretForms(part) });
        if (known === undefined) forgetOldest(secrets, name);
      }
    },
    isSecretName: (name) => names.has(name),
    redact,
    redactJson: <T>(value: T) => redactJson(value) as T,
    stream() {
      let held = '';
      return {
        push(text) {
          const whole = held + text;
          const matches = findSecrets(whole, secrets.values());
          const from = heldFrom(whole, matches, secrets.values());
          held = whole.slice(from);
          return replaceMatches(
            whole.slice(0, from),
            matches.filter((match) => match.end <= from),
          );
        },
        end() {
          const rest = redact(held);
          held = '';
          return rest;
        },
      };
    },
  };
}

function forgetOldest(secrets: Map<string, Secret>, name: string): void {
  const values = [...secrets].filter(([, secret]) => secret.name === name);
  if (values.length > keptValues) secrets.delete(values[0]?.[0] ?? '');
}

/** The token inside a header's value: `Bearer abc` is secret because of `abc`. */
function credentialsOf(value: string): readonly string[] {
  const match = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value.trim());
  const lines = value.trim() === value ? [] : [value.trim()];
  return match?.[1] === undefined ? lines : [...lines, match[1]];
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Where secrets stand in `text`, in order and without overlaps: where two overlap they become one. */
function findSecrets(text: string, secrets: Iterable<Secret>): readonly Match[] {
  const matches: Match[] = [];
  for (const { name, forms } of secrets) {
    for (const form of forms) {
      if (!form.probes.some((probe) => text.includes(probe))) continue;
      for (const match of text.matchAll(form.pattern)) {
        matches.push({ start: match.index, end: match.index + match[0].length, name });
      }
    }
  }
  matches.sort((a, b) => a.start - b.start || b.end - a.end);
  const joined: Match[] = [];
  for (const match of matches) {
    const last = joined.at(-1);
    if (last === undefined || match.start >= last.end) joined.push(match);
    else if (match.end > last.end) joined[joined.length - 1] = { ...last, end: match.end };
  }
  return joined;
}

function replaceMatches(text: string, matches: readonly Match[]): string {
  let result = '';
  let position = 0;
  for (const match of matches) {
    result += `${text.slice(position, match.start)}[redacted ${match.name}]`;
    position = match.end;
  }
  return result + text.slice(position);
}

/** Where the part begins that the next piece may turn into a secret. */
function heldFrom(text: string, matches: readonly Match[], secrets: Iterable<Secret>): number {
  const forms = [...secrets].flatMap((secret) => secret.forms);
  // A wrapped form grows by a line break (two characters) per line of at least a few characters.
  const longest = forms.reduce((length, form) => Math.max(length, form.text.length * 2), 0);
  for (let start = Math.max(0, text.length - longest); start < text.length; start++) {
    if (!forms.some((form) => beginsForm(text, start, form))) continue;
    // A secret that is complete is not torn apart: it waits for the one that may begin inside it. Not for
    // ever, as one that begins with its own end may go on and on.
    const around = matches.find((match) => match.start < start && match.end > start);
    if (around === undefined) return start;
    if (text.length - around.start <= 4 * longest) return around.start;
    start = around.end - 1;
  }
  return text.length;
}

/** The part of a worker's config that names secrets. */
export interface SecretNames {
  readonly models: {
    readonly [name: string]: {
      readonly apiKeyEnv?: string;
      readonly headersEnv?: { readonly [header: string]: string };
    };
  };
}

/** Registers every secret that the worker's environment holds by the config's word, and Temporal's own. */
export function registerConfiguredSecrets(
  redactor: Redactor,
  config: SecretNames,
  environment: { readonly [name: string]: string | undefined },
): void {
  const names = Object.values(config.models).flatMap((model) => [
    ...(model.apiKeyEnv === undefined ? [] : [model.apiKeyEnv]),
    ...Object.values(model.headersEnv ?? {}),
  ]);
  for (const name of ['TEMPORAL_API_KEY', ...names]) redactor.register(name, environment[name]);
}

/** The message of anything thrown, redacted. */
export function redactedMessage(error: unknown, redactor: Redactor): string {
  const message = error instanceof Error ? error.message : String(error);
  return redactor.redact(message === '' && error instanceof Error ? error.name : message);
}

/** The same failure with message and details redacted; its stack and causes stay on the worker. */
export function toRedactedFailure(
  error: unknown,
  redactor: Redactor,
): ApplicationFailure | CancelledFailure {
  if (error instanceof CancelledFailure) return error;
  const known = error instanceof ApplicationFailure ? error : undefined;
  return ApplicationFailure.create({
    type: known?.type ?? (error instanceof Error ? error.name : 'Error'),
    message: redactedMessage(error, redactor),
    nonRetryable: known?.nonRetryable ?? false,
    ...(known?.details == null ? {} : { details: redactor.redactJson([...known.details]) }),
    ...(known?.nextRetryDelay == null ? {} : { nextRetryDelay: known.nextRetryDelay }),
  });
}
