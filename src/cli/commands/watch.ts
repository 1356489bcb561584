// What can be read of sessions: events, messages, state, list.

import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { AgentResult, AgentRun, AgentSummary } from '../../client/index.js';
import { textOf } from '../../protocol/messages.js';
import type { Message } from '../../protocol/messages.js';
import type { AgentState } from '../../protocol/session.js';
import { commandName } from '../command-name.js';
import { EventPrinter, summarizeArguments } from '../event-printer.js';
import { followRun } from '../follow-run.js';
import { addAgentOption, addServerOptions, examples, withClient } from '../options.js';
import type { AgentFlags, ServerFlags } from '../options.js';
import type { Terminal } from '../terminal.js';
import { toOneLine, toPlainText, toShellWord, toTable } from '../text.js';
import { toPositiveInteger } from './run.js';

interface WatchFlags extends ServerFlags, AgentFlags {
  readonly json?: true;
  readonly follow?: true;
  readonly after?: number;
  readonly from?: number;
  readonly limit: number;
  readonly open?: true;
  readonly type?: string;
  readonly toolOutput?: true;
}

export function addWatchCommands(program: Command, terminal: Terminal): void {
  addEventsCommand(program, terminal);
  addMessagesCommand(program, terminal);
  addStateCommand(program, terminal);
  addListCommand(program, terminal);
}

function addEventsCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('events')
    .description('Print what happened in a session, and with --follow what happens')
    .argument('<id>', 'workflow id, as `holdfast list` shows it')
    .option('--follow', 'go on until the session has ended, with live text')
    .option('--after <n>', 'only events after this sequence number', toWholeNumber)
    .option('--tool-output', 'with --follow: also what tools print while they run')
    .option('--json', 'one JSON object a line');
  addAgentOption(addServerOptions(command))
    .addHelpText(
      'after',
      examples(
        'holdfast events calm-otter-7k2m',
        'holdfast events calm-otter-7k2m --follow',
        'holdfast events calm-otter-7k2m --json --after 120',
      ),
    )
    .action(async (workflowId: string, flags: WatchFlags) => {
      await withClient(flags, async (client) => {
        const run = client.get<AgentResult>(workflowId, flags);
        const json = flags.json === true;
        const after = flags.after ?? 0;
        if (flags.follow === true) {
          const toolOutput = flags.toolOutput === true;
          await followRun(run, terminal, { json, untilAgentEnd: false, after, toolOutput });
        } else await printEvents(run, terminal, { json, after });
      });
    });
}

async function printEvents(
  run: AgentRun<AgentResult>,
  terminal: Terminal,
  { json, after }: { readonly json: boolean; readonly after: number },
): Promise<void> {
  const printer = new EventPrinter({
    workflowId: run.workflowId,
    agent: run.agent,
    columns: () => terminal.columns,
    colours: terminal.colours,
  });
  for await (const event of run.loggedEvents({ after })) {
    terminal.write(json ? `${JSON.stringify(event)}\n` : printer.print(event));
  }
  if (!json) terminal.write(printer.finish());
}

function addMessagesCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('messages')
    .description('Print the transcript of a session')
    .argument('<id>', 'workflow id, as `holdfast list` shows it')
    .option('--from <index>', 'only messages from this index on', toWholeNumber)
    .option('--json', 'one JSON object a line');
  addAgentOption(addServerOptions(command))
    .addHelpText(
      'after',
      examples(
        'holdfast messages calm-otter-7k2m',
        'holdfast messages calm-otter-7k2m --json > transcript.jsonl',
      ),
    )
    .action(async (workflowId: string, { json, from = 0, ...flags }: WatchFlags) => {
      await withClient(flags, async (client) => {
        let index = from;
        for await (const message of client.get(workflowId, flags).messages({ from })) {
          terminal.write(
            json === true
              ? `${JSON.stringify(message)}\n`
              : `${terminal.colours.bold(`${index} ${message.role}`)}\n${messageText(message)}\n\n`,
          );
          index += 1;
        }
      });
    });
}

function messageText(message: Message): string {
  if ('text' in message) return toPlainText(message.text);
  if (message.role !== 'assistant') return toPlainText(textOf(message.content));
  const parts = message.content.map((block) => {
    if (block.type === 'text') return toPlainText(block.text);
    if (block.type === 'thinking') return `(thinking) ${toOneLine(block.thinking)}`;
    return `● ${toOneLine(block.name)} ${summarizeArguments(block.arguments)}`;
  });
  if (message.errorMessage !== undefined) parts.push(`Error: ${toOneLine(message.errorMessage)}`);
  return parts.join('\n');
}

function addStateCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('state')
    .description('Print what a session is doing')
    .argument('<id>', 'workflow id, as `holdfast list` shows it')
    .option('--json', 'as JSON');
  addAgentOption(addServerOptions(command))
    .addHelpText('after', examples('holdfast state calm-otter-7k2m --json'))
    .action(async (workflowId: string, flags: WatchFlags) => {
      await withClient(flags, async (client) => {
        const state = await client.get(workflowId, flags).state();
        terminal.write(
          flags.json === true
            ? `${JSON.stringify(state)}\n`
            : toTable(stateRows(state, workflowId, flags), terminal.columns),
        );
      });
    });
}

function stateRows(
  state: AgentState,
  workflowId: string,
  { agent }: AgentFlags,
): (readonly [string, string])[] {
  const of = agent === undefined ? '' : ` --agent ${toShellWord(agent)}`;
  const { queues, usage } = state;
  return [
    ['status', state.status + (state.turn > 0 ? `, turn ${state.turn}` : '')],
    ['lifetime', state.lifetime],
    ['agent', state.agent + (state.model === undefined ? '' : ` (${state.model})`)],
    ...(state.name === undefined || state.names === undefined
      ? []
      : [['name', `${state.name}, of ${state.names.join(', ')}`] as [string, string]]),
    ['runs', `${state.runs}`],
    ['messages', `${state.transcriptLength}`],
    ['tokens', `${usage.total} (${usage.input} in, ${usage.output} out)`],
    ...state.pendingToolCalls.map((call): [string, string] => [
      'tool',
      `${toOneLine(call.toolName)} (${call.status})`,
    ]),
    ...waitRows(state),
    ...state.pendingApprovals.map((call): [string, string] => [
      'approval',
      `${toOneLine(call.toolName)} ${toOneLine(call.args)}: ${commandName()} approve ${toShellWord(workflowId)}${of} --call ${toShellWord(call.toolCallId)}`,
    ]),
    ['queued', `${queues.steeringLength} steering, ${queues.followUpLength} follow-up`],
    ...state.undelivered.map(({ kind, preview }): [string, string] => [
      'undelivered',
      `${kind}: ${toOneLine(preview)}`,
    ]),
    ...(state.lastError === undefined
      ? []
      : [['last error', toOneLine(state.lastError)] as [string, string]]),
  ];
}

function waitRows({ awaitedWorkspace }: AgentState): (readonly [string, string])[] {
  if (awaitedWorkspace === undefined) return [];
  const { workspace, taskQueue } = awaitedWorkspace;
  return [
    [
      'waiting for',
      `a worker of the workspace ${toOneLine(workspace)} (task queue ${toOneLine(taskQueue)}); start one whose config declares it: ${commandName()} worker`,
    ],
  ];
}

function addListCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('list')
    .description('List sessions, newest first')
    .option('--open', 'only those that have not ended')
    .option('--type <name>', "workflow type, for a workflow of one's own (default: agent)")
    .option('--limit <n>', 'how many at most', toPositiveInteger, 50)
    .option('--json', 'as a JSON array');
  addServerOptions(command)
    .addHelpText(
      'after',
      examples('holdfast list', 'holdfast list --open --json', 'holdfast list --type releaseNotes'),
    )
    .action(async ({ json, limit, open, type, ...flags }: WatchFlags) => {
      await withClient(flags, async (client) => {
        const sessions: AgentSummary[] = [];
        for await (const session of client.list({ limit, open: open === true, type })) {
          sessions.push(session);
        }
        if (json === true) terminal.write(`${JSON.stringify(sessions)}\n`);
        else if (sessions.length === 0) {
          terminal.note(
            `There are no sessions. Start one: ${commandName()} run "List the files here"`,
          );
        } else terminal.write(toTable(listRows(sessions), terminal.columns));
      });
    });
}

function listRows(sessions: readonly AgentSummary[]): string[][] {
  const rows = sessions.map(({ workflowId, status, startedAt, summary = '' }) => [
    toOneLine(workflowId),
    status,
    startedAt.toISOString().slice(0, 19).replace('T', ' '),
    toOneLine(summary),
  ]);
  return [['ID', 'STATUS', 'STARTED (UTC)', 'SUMMARY'], ...rows];
}

function toWholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Expected a whole number.');
  return Number(text);
}
