// What can be said to a session: prompt, steer, follow-up, continue, abort, approve, deny, close.

import type { Command } from 'commander';
import type { AgentClient, AgentResult, ApprovalAnswer } from '../../client/index.js';
import { WorkerUnreachable } from '../../client/index.js';
import type { SignalKind } from '../../protocol/events.js';
import { deliver, describeDelivery } from '../deliver.js';
import type { Delivery } from '../deliver.js';
import { exitCodes, followRun } from '../follow-run.js';
import { abortOnInterrupt } from '../interrupt.js';
import { addAgentOption, addServerOptions, examples, readText, withClient } from '../options.js';
import type { AgentFlags, ServerFlags } from '../options.js';
import type { Terminal } from '../terminal.js';

interface ControlFlags extends ServerFlags, AgentFlags {
  readonly json?: true;
  readonly follow?: true;
  readonly reason?: string;
  readonly call?: string;
}

export function addControlCommands(program: Command, terminal: Terminal): void {
  addMessageCommand(program, terminal, 'prompt', 'prompt', 'Start a run of an idle session');
  addMessageCommand(
    program,
    terminal,
    'steer',
    'steer',
    'Say something before the next model call',
  );
  addMessageCommand(
    program,
    terminal,
    'follow-up',
    'followUp',
    'Say something when the run would otherwise end',
  );
  addPlainCommand(program, terminal, 'continue', 'Run an idle session on from its transcript');
  addPlainCommand(program, terminal, 'close', 'Let the present run finish and end the session');
  addAnswerCommand(program, terminal, 'approve', 'Let a tool call that asks for approval run');
  addAnswerCommand(program, terminal, 'deny', 'Refuse a tool call that asks for approval');
  addAbortCommand(program, terminal);
}

function addMessageCommand(
  program: Command,
  terminal: Terminal,
  name: string,
  kind: SignalKind,
  description: string,
): void {
  const command = base(program, name, description)
    .argument('<text>', 'the message; - reads it from standard input')
    .addHelpText(
      'after',
      examples(
        `holdfast ${name} calm-otter-7k2m "Leave the 1.x section alone"`,
        `cat notes.md | holdfast ${name} calm-otter-7k2m -`,
      ),
    );
  if (kind === 'prompt') command.option('--follow', 'follow the run until it ends');
  command.action(async (workflowId: string, argument: string, flags: ControlFlags) => {
    const text = await readText(argument);
    process.exitCode = await withClient(flags, async (client) => {
      const run = client.get<AgentResult>(workflowId, flags);
      const after = flags.follow === true ? await run.lastSequence() : 0;
      say(terminal, kind, await deliver(run, kind, text), flags);
      if (flags.follow !== true) return exitCodes.answered;
      using _ = abortOnInterrupt(run, 'session', terminal);
      const json = flags.json === true;
      return followRun(run, terminal, { json, untilAgentEnd: true, after });
    });
  });
}

function addPlainCommand(
  program: Command,
  terminal: Terminal,
  kind: 'continue' | 'close',
  description: string,
): void {
  base(program, kind, description)
    .addHelpText('after', examples(`holdfast ${kind} calm-otter-7k2m`))
    .action(async (workflowId: string, flags: ControlFlags) => {
      await withClient(flags, async (client) => {
        say(terminal, kind, await deliver(client.get(workflowId, flags), kind), flags);
      });
    });
}

function addAnswerCommand(
  program: Command,
  terminal: Terminal,
  kind: 'approve' | 'deny',
  description: string,
): void {
  base(program, kind, description)
    .option('--call <id>', 'id of the tool call (default: the only one that asks)')
    .option('--reason <text>', kind === 'deny' ? 'what the model is told' : 'kept in the events')
    .addHelpText(
      'after',
      examples(
        `holdfast ${kind} calm-otter-7k2m`,
        `holdfast ${kind} calm-otter-7k2m --call call_1 --reason "${kind === 'deny' ? 'use the test database' : 'checked'}"`,
      ),
    )
    .action(async (workflowId: string, { call, reason, ...flags }: ControlFlags) => {
      const answer: ApprovalAnswer = {
        ...(call === undefined ? {} : { toolCallId: call }),
        ...(reason === undefined ? {} : { reason }),
      };
      await withClient(flags, async (client) => {
        say(terminal, kind, await deliver(client.get(workflowId, flags), kind, answer), flags);
      });
    });
}

function addAbortCommand(program: Command, terminal: Terminal): void {
  base(program, 'abort', 'Stop the present run: a run is cancelled, a session stays open')
    .option('--reason <text>', 'kept in the events; not when a run is cancelled')
    .addHelpText(
      'after',
      examples(
        'holdfast abort calm-otter-7k2m',
        'holdfast abort calm-otter-7k2m --reason "wrong branch"',
      ),
    )
    .action(async (workflowId: string, { reason, ...flags }: ControlFlags) => {
      await withClient(flags, async (client) => {
        if ((await lifetimeOf(client, workflowId)) === 'run') {
          await client.get(workflowId).cancel();
          say(terminal, 'abort', { outcome: 'accepted' }, flags);
          return;
        }
        const content = reason === undefined ? {} : { reason };
        say(
          terminal,
          'abort',
          await deliver(client.get(workflowId, flags), 'abort', content),
          flags,
        );
      });
    });
}

/**
 * The memo tells without a worker; an agent started by other means is asked. When nobody answers it is
 * taken for a session: the signal is right for both, only a run then completes instead of being cancelled.
 */
async function lifetimeOf(client: AgentClient, workflowId: string): Promise<'run' | 'session'> {
  const run = client.get(workflowId);
  const recorded = await run.lifetime();
  if (recorded !== undefined) return recorded;
  try {
    return (await run.state()).lifetime;
  } catch (error) {
    if (error instanceof WorkerUnreachable) return 'session';
    throw error;
  }
}

function base(program: Command, name: string, description: string): Command {
  const command = program.command(name).description(description);
  command.argument('<id>', 'workflow id, as `holdfast list` shows it');
  return addAgentOption(addServerOptions(command)).option('--json', 'print the outcome as JSON');
}

function say(terminal: Terminal, kind: SignalKind, delivery: Delivery, flags: ControlFlags): void {
  const text = describeDelivery(kind, delivery);
  if (flags.follow === true) terminal.note(text);
  else terminal.write(flags.json === true ? `${JSON.stringify(delivery)}\n` : `${text}\n`);
}
