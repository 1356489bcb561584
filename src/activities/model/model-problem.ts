// What went wrong with a model call, in four kinds: the provider gave no usable answer this time, it
// refused, the conversation is too long, the answer is too large. Tables say which error is which.

import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { cutUtf8 } from '../../protocol/json.js';
import { isContextOverflow } from './context-overflow.js';
import type { ProviderError } from './context-overflow.js';
import { retryAfterMs } from './retry-after.js';

export type ModelProblemKind = 'unavailable' | 'rejected' | 'overflow' | 'tooLarge';

/** Its message is a sentence for people. */
export class ModelProblem extends Error {
  readonly kind: ModelProblemKind;
  readonly retryAfterMs: number | undefined;

  constructor(kind: ModelProblemKind, message: string, askAgainAfterMs?: number) {
    super(message);
    this.name = 'ModelProblem';
    this.kind = kind;
    this.retryAfterMs = askAgainAfterMs;
  }
}

/** HTTP statuses below 500 that are worth another try. All from 500 on are. */
const retriedStatuses = [408, 409, 425, 429];

/** Codes and types that stay true however often one asks, also under 429 and inside a stream. */
const quotaCodes = [
  'insufficient_quota',
  'credit_balance_exhausted',
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
  'organization_usage_limit_exceeded',
  'billing_not_active',
  'billing_hard_limit_reached',
  'insufficient_balance',
  'insufficient_credits',
  'exceeded_current_quota_error',
];

const quotaWordings: readonly RegExp[] = [
  /insufficient[_ ](quota|balance|credits?|funds)/i,
  /credit balance is too low/i,
  /check your plan and billing details/i,
  /billing hard limit/i,
  /(monthly|usage|spend(ing)?) (usage |spend(ing)? )?limit (was |has been )?(reached|exceeded)/i,
];

/** Some providers word throttling like quota, but say when to come back. */
const comeBackWording = /(retry|try again) (in|after) [\d.]+/i;

/** Codes and types of refusals, for errors that come without a status. */
const refusedCodes = [
  'invalid_request_error',
  'invalid_request',
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'permission_denied',
  'not_found_error',
  'model_not_found',
  'billing_error',
  'content_filter',
  'content_policy_violation',
  'request_too_large',
];

const maxReasonBytes = 600;

/**
 * Sorts whatever a model call threw. Without a status (no answer, an error inside a stream) it is
 * `unavailable` unless its code says that asking again is no use.
 */
export function toModelProblem(error: unknown, provider = ''): ModelProblem {
  if (error instanceof ModelProblem) return error;
  if (!(error instanceof APIError)) {
    return new ModelProblem(
      'unavailable',
      `The connection to the model failed: ${reasonOf(error)}`,
    );
  }
  if (error instanceof APIConnectionTimeoutError || error instanceof APIConnectionError) {
    return new ModelProblem(
      'unavailable',
      `The connection to the model failed: ${reasonOf(error)}`,
    );
  }
  return fromProviderError(error, toProviderError(error, provider));
}

function fromProviderError(error: APIError, facts: ProviderError): ModelProblem {
  const message = describe(error, facts);
  if (isContextOverflow(facts)) {
    return new ModelProblem(
      'overflow',
      `The conversation is longer than the model takes. ${message}`,
    );
  }
  if (isQuota(facts)) return new ModelProblem('rejected', message);
  const wait = error.headers === undefined ? undefined : retryAfterMs(error.headers);
  const retried =
    facts.status === undefined
      ? ![facts.code, facts.type].some((code) => code !== undefined && refusedCodes.includes(code))
      : facts.status >= 500 || retriedStatuses.includes(facts.status);
  return new ModelProblem(
    retried ? 'unavailable' : 'rejected',
    message,
    retried ? wait : undefined,
  );
}

function isQuota({ status, code, type, text }: ProviderError): boolean {
  if ([code, type].some((value) => value !== undefined && quotaCodes.includes(value))) return true;
  if (status !== undefined && status !== 429) return false;
  return quotaWordings.some((wording) => wording.test(text)) && !comeBackWording.test(text);
}

/** Routers put the status of an upstream error into the code of an error inside the stream. */
function toProviderError(error: APIError, provider: string): ProviderError {
  const body = (error.error ?? {}) as {
    readonly message?: unknown;
    readonly metadata?: { readonly raw?: unknown };
  };
  const code = error.code === undefined || error.code === null ? undefined : String(error.code);
  const status = error.status ?? statusIn(code);
  const upstream = body.metadata?.raw;
  const texts = [toText(body.message) ?? withoutStatus(error), toText(upstream)];
  return {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(typeof error.type === 'string' ? { type: error.type } : {}),
    text: texts.filter((text) => text !== undefined && text !== '').join(' · '),
    provider,
  };
}

function statusIn(code: string | undefined): number | undefined {
  return code !== undefined && /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}

/** The client's own message, without what it makes up when there is nothing to say. */
function withoutStatus(error: APIError): string {
  const text = error.message.replace(/^\d{3} /, '');
  return /^(status code \(no body\)|\(no status code or body\))$/.test(text) ? '' : text;
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function describe(error: APIError, { status, code, text }: ProviderError): string {
  const said = cutUtf8(text, maxReasonBytes) || 'no further explanation';
  if (error.status !== undefined) return `The provider answered HTTP ${error.status}: ${said}`;
  const named = code === undefined || status !== undefined ? '' : ` (${code})`;
  return `The provider reported an error inside the stream${named}: ${said}`;
}

/** The message of an error and of what caused it: Node says `fetch failed` and hides the reason. */
function reasonOf(error: unknown): string {
  const parts: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < 4 && current instanceof Error; depth++) {
    const { code } = current as { readonly code?: unknown };
    const text = current.message === '' && typeof code === 'string' ? code : current.message;
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text);
    current = current.cause;
  }
  if (parts.length === 0) parts.push(error instanceof Error ? error.name : String(error));
  return cutUtf8(parts.join(': '), maxReasonBytes);
}
