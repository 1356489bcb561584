// What is sent to a session: built from the forms callers write, measured before it leaves.

import { randomUUID } from 'node:crypto';
import type { SignalKind } from '../protocol/events.js';
import { cutUtf8, jsonSize } from '../protocol/json.js';
import { payloadLimits } from '../protocol/limits.js';
import { textOf } from '../protocol/messages.js';
import type { UserContent } from '../protocol/messages.js';
import type { AgentInput, PromptMessage } from '../protocol/session.js';
import { MessageTooLarge } from './errors.js';

/** What steer, followUp and prompt take: text, blocks of text and images, or a whole message. */
export type MessageInput = PromptMessage | UserContent;

/** Answers a pending approval; without an id the only one there is. */
export interface ApprovalAnswer {
  readonly toolCallId?: string;
  readonly reason?: string;
}

/** The same id twice counts once. Default: a new one. */
export interface InputOptions {
  readonly id?: string;
}

/** The one argument of a signal. */
export type SignalArgument = { readonly id: string } & { readonly [field: string]: unknown };

/**
 * The argument of a signal that carries a message, or fields, or nothing but its id.
 * @throws MessageTooLarge, before anything is sent
 */
export function toSignalArgument(
  kind: SignalKind,
  content: MessageInput | ApprovalAnswer | undefined,
  { id = randomUUID() }: InputOptions = {},
): SignalArgument {
  const argument = { ...toFields(content), id };
  assertFits(`${kind} message`, argument);
  return argument;
}

function toFields(content: MessageInput | ApprovalAnswer | undefined): object {
  if (content === undefined) return {};
  if (typeof content === 'string') return { text: content };
  if (isUserContent(content)) return { role: 'user', content };
  return content;
}

function isUserContent(content: MessageInput | ApprovalAnswer): content is UserContent {
  return Array.isArray(content);
}

/** @throws MessageTooLarge when `value` is more than one payload may carry. */
export function assertFits(what: string, value: unknown): void {
  const bytes = jsonSize(value);
  if (bytes > payloadLimits.maxPayloadBytes) {
    throw new MessageTooLarge(what, bytes, payloadLimits.maxPayloadBytes);
  }
}

/** The server takes 400 bytes, its documentation promises 200. */
const maxSummaryBytes = 200;

/** The prompt in one line, for lists and the Web UI; undefined when there is no text in it. */
export function promptSummary(input: string | AgentInput): string | undefined {
  const line = promptText(input).replaceAll(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  const cut = cutUtf8(line, maxSummaryBytes);
  return cut === line ? line : `${cutUtf8(line, maxSummaryBytes - 3)}…`;
}

function promptText(input: string | AgentInput): string {
  const prompt = typeof input === 'string' ? input : input.prompt;
  if (prompt === undefined) return '';
  const list = typeof prompt === 'string' || !isList(prompt) ? [prompt] : prompt;
  return list.map((item) => (typeof item === 'string' ? item : messageText(item))).join(' ');
}

function isList(prompt: NonNullable<AgentInput['prompt']>): prompt is readonly PromptMessage[] {
  return Array.isArray(prompt);
}

function messageText(message: Exclude<PromptMessage, string>): string {
  return 'text' in message ? message.text : textOf(message.content);
}
