// What a follower is told, as text for people: an assistant's text as it streams, one line for everything
// else. Pure but for where the cursor stands.

import type pc from 'picocolors';
import type { FollowedEvent, FollowedLoggedEvent } from '../client/index.js';
import { textOf } from '../protocol/messages.js';
import type { Message } from '../protocol/messages.js';
import { commandName } from './command-name.js';
import { cutToColumns, toDuration, toOneLine, toPlainText, toShellWord, widthOf } from './text.js';

export interface EventPrinterOptions {
  readonly workflowId: string;
  /** Of a workflow with several. */
  readonly agent?: string | undefined;
  readonly columns: () => number;
  readonly colours: ReturnType<typeof pc.createColors>;
  /** Also what tools print while they run. */
  readonly toolOutput?: boolean;
}

export class EventPrinter {
  readonly #options: EventPrinterOptions;
  /** A line of text is begun and not ended. */
  #isOpen = false;
  /** An error that was printed with its message need not be repeated at the end. */
  #printedError = false;
  /** What the calls that have not ended are about, for those that ask for approval. */
  readonly #calls = new Map<string, string>();

  constructor(options: EventPrinterOptions) {
    this.#options = options;
  }

  /** The text to write for an event; empty for those that say nothing to people. */
  print(event: FollowedEvent): string {
    const { green, red, yellow, dim, bold } = this.#options.colours;
    const { workflowId, agent } = this.#options;
    switch (event.type) {
      case 'message_update': {
        const again = event.startsOver ? this.#line(dim('(starting over)')) : '';
        const gap = event.skipped === undefined ? '' : this.#line(dim('…'));
        return again + gap + this.#text(event.text);
      }
      case 'message_end':
        return this.#messageEnd(event, event.content);
      case 'tool_execution_start':
        this.#calls.set(event.toolCallId, summarizeArguments(event.args ?? {}));
        return this.#call(bold('●'), event.toolName, summarizeArguments(event.args ?? {}));
      case 'tool_execution_update':
        return this.#options.toolOutput === true ? this.#text(event.partialResult, dim) : '';
      case 'tool_execution_end':
        this.#calls.delete(event.toolCallId);
        return this.#call(event.isError ? red('✗') : green('✓'), event.toolName, resultText(event));
      case 'queued':
        return this.#line(
          dim(this.#cut(`queued (${event.kind}): ${toOneLine(event.preview)}`)),
          false,
        );
      case 'rejected':
        return this.#line(yellow(`rejected (${event.kind}): ${toOneLine(event.reason)}`));
      case 'approval_requested': {
        const of = agent === undefined ? '' : ` --agent ${toShellWord(agent)}`;
        const call = `${toShellWord(workflowId)}${of} --call ${toShellWord(event.toolCallId)}`;
        return (
          this.#line(yellow(`? ${toOneLine(event.toolName)} asks for approval. Answer with:`)) +
          this.#about(event.toolCallId) +
          this.#line(`    ${commandName()} approve ${call}`) +
          this.#line(`    ${commandName()} deny ${call} --reason "…"`)
        );
      }
      case 'approval_resolved': {
        const reason = event.reason === undefined ? '' : `: ${toOneLine(event.reason)}`;
        return this.#line(
          dim(`${event.approved ? 'approved' : 'denied'} ${toOneLine(event.toolName)}${reason}`),
        );
      }
      case 'workspace_wait_start': {
        const workspace = toOneLine(event.workspace);
        return this.#line(
          yellow(
            `Waiting for a worker of the workspace ${workspace}, at most ${toDuration(event.waitMs)}. ` +
              `Start one whose config declares it: ${commandName()} worker.`,
          ),
        );
      }
      case 'workspace_wait_end':
        return this.#line(
          dim(event.reached ? 'A worker of the workspace is there.' : 'The wait for it is over.'),
        );
      case 'limit_reached':
        return this.#line(yellow(`Limit reached: ${event.limit} (${event.value}).`));
      case 'retry': {
        const delay = event.delayMs === undefined ? '' : ` in ${toDuration(event.delayMs)}`;
        return this.#line(yellow(`Attempt ${event.attempt}${delay}: ${toOneLine(event.reason)}`));
      }
      case 'unreachable':
        return this.#line(
          yellow(
            event.what === 'server'
              ? 'The Temporal server does not answer; waiting for it. Nothing is lost.'
              : 'No worker answers; waiting for one (start one with `holdfast worker`). Nothing is lost.',
          ),
        );
      case 'reachable':
        return this.#line(dim('It answers again.'));
      case 'lost':
        return this.#line(dim(`(events ${event.from} to ${event.to} are no longer kept)`));
      case 'agent_end':
        return this.#agentEnd(event);
      case 'closed':
        return this.#line(dim('The session is closed.')) + this.#undelivered(event.undelivered);
      case 'agent_start':
      case 'turn_start':
      case 'turn_end':
      case 'message_start':
      case 'ended':
        return '';
    }
  }

  /** Ends a begun line. */
  finish(): string {
    if (!this.#isOpen) return '';
    this.#isOpen = false;
    return '\n';
  }

  #messageEnd(event: FollowedLoggedEvent, content: Message | undefined): string {
    const { red, dim, yellow } = this.#options.colours;
    if (content === undefined) return '';
    if (content.role === 'user' || content.role === 'custom') {
      return this.#line(dim(this.#cut(`> ${toOneLine(textOf(content.content))}`)), false);
    }
    if (content.role !== 'assistant') return '';
    const again = event.startsOver ? this.#line(dim('(starting over)')) : '';
    const text = again + this.#text(event.unshown ?? textOf(content.content)) + this.finish();
    if (content.stopReason === 'error') {
      this.#printedError = true;
      return text + this.#line(red(`Model error: ${toOneLine(content.errorMessage ?? 'unknown')}`));
    }
    if (content.stopReason === 'length')
      return text + this.#line(yellow('(the answer was cut off)'));
    return text;
  }

  #agentEnd(event: FollowedEvent & { readonly type: 'agent_end' }): string {
    const { red, yellow } = this.#options.colours;
    const wasPrinted = this.#printedError;
    this.#printedError = false;
    const undelivered = this.#undelivered(event.undelivered ?? []);
    if (event.stopReason === 'aborted') {
      const fact = event.reason === undefined ? 'Aborted.' : `Aborted: ${toOneLine(event.reason)}`;
      return this.#line(yellow(fact)) + undelivered;
    }
    if (event.errorMessage === undefined || wasPrinted) return this.finish() + undelivered;
    return this.#line(red(toOneLine(event.errorMessage))) + undelivered;
  }

  #call(mark: string, toolName: string, text: string): string {
    const name = toOneLine(toolName);
    const line = toOneLine(text);
    const summary =
      line === '' ? '' : ` ${this.#options.colours.dim(this.#cut(line, widthOf(name) + 3))}`;
    return this.#line(`${mark} ${name}${summary}`, false);
  }

  /** In full, as far as it is one line: who approves must see what. */
  #about(toolCallId: string): string {
    const text = toOneLine(this.#calls.get(toolCallId) ?? '');
    return text === '' ? '' : this.#line(`    ${text}`);
  }

  #undelivered(messages: readonly { readonly kind: string; readonly preview: string }[]): string {
    const { yellow } = this.#options.colours;
    return messages
      .map(({ kind, preview }) =>
        this.#line(yellow(this.#cut(`not delivered (${kind}): ${toOneLine(preview)}`)), false),
      )
      .join('');
  }

  #text(text: string, colour: (text: string) => string = (same) => same): string {
    const plain = toPlainText(text);
    if (plain === '') return '';
    this.#isOpen = !plain.endsWith('\n');
    return colour(plain);
  }

  #line(line: string, mayWrap = true): string {
    return `${this.finish()}${mayWrap ? toPlainLine(line) : line}\n`;
  }

  #cut(line: string, taken = 0): string {
    return cutToColumns(line, Math.max(8, this.#options.columns() - taken));
  }
}

function toPlainLine(line: string): string {
  return line.replaceAll('\n', ' ');
}

/** What the call is about, in one line: the only argument's value, else the whole as JSON. */
export function summarizeArguments(args: { readonly [name: string]: unknown }): string {
  for (const name of ['command', 'path', 'file', 'query', 'url']) {
    const value = args[name];
    if (typeof value === 'string') return toOneLine(value);
  }
  const values = Object.values(args);
  const [only] = values;
  if (values.length === 1 && typeof only === 'string') return toOneLine(only);
  return values.length === 0 ? '' : toOneLine(JSON.stringify(args));
}

function resultText(event: FollowedEvent & { readonly type: 'tool_execution_end' }): string {
  const content = event.result?.['content'];
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return textOf(content as readonly { readonly type: string }[]);
}
