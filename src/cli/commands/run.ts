// `holdfast run`: starts an agent, follows it, prints it, and leaves with a code that says how it ended.

import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { AgentClientError } from '../../client/index.js';
import { thinkingLevels } from '../../protocol/agent-definition.js';
import type { ThinkingLevel } from '../../protocol/agent-definition.js';
import { defaultTaskQueue } from '../../protocol/session.js';
import type { AgentInput } from '../../protocol/session.js';
import { commandName } from '../command-name.js';
import { exitCodes, followRun } from '../follow-run.js';
import { abortOnInterrupt } from '../interrupt.js';
import { addServerOptions, examples, readText, withClient } from '../options.js';
import type { ServerFlags } from '../options.js';
import type { Terminal } from '../terminal.js';

interface RunFlags extends ServerFlags {
  readonly id?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly thinking?: ThinkingLevel;
  readonly tools?: readonly string[];
  readonly workspace?: string;
  readonly session?: true;
  readonly system?: string;
  readonly maxTurns?: number;
  readonly taskQueue: string;
  readonly detach?: true;
  readonly toolOutput?: true;
  readonly json?: true;
}

export function addRunCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('run')
    .description('Start an agent and follow it: exit code 0 answered, 1 failed, 130 aborted')
    .argument('[prompt]', 'what to do; - reads it from standard input')
    .option('--id <id>', 'workflow id (default: a short readable one)')
    .option('--agent <name>', "agent from the worker's config")
    .option('--model <name>', 'one of the models the agent offers')
    .addOption(new Option('--thinking <level>', 'thinking level').choices([...thinkingLevels]))
    .option('--tools <names>', 'only these of its tools, separated by commas', toNames)
    .option('--workspace <name>', 'workspace its tools work in, on the workers that declare it')
    .option('--system <text>', "replaces the agent's system prompt")
    .option('--max-turns <n>', 'turns after which the run ends', toPositiveInteger)
    .option('--session', 'stay open for further prompts after the run')
    .option('--task-queue <name>', 'task queue of the workers', defaultTaskQueue)
    .option('--detach', 'start without following')
    .option('--tool-output', 'also print what tools print while they run')
    .option('--json', 'print events, one JSON object a line');
  addServerOptions(command)
    .addHelpText(
      'after',
      examples(
        'holdfast run "List the files here"',
        'holdfast run --session --id notes "Read README.md"',
        'git diff | holdfast run - --tools read',
        'holdfast run --detach "Tidy the changelog"',
      ),
    )
    .action(async (prompt: string | undefined, flags: RunFlags) => {
      process.exitCode = await run(prompt, flags, terminal);
    });
}

async function run(
  argument: string | undefined,
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  const prompt = argument === undefined ? undefined : await readText(argument);
  if (prompt === undefined && flags.session !== true) {
    throw new AgentClientError(
      'There is no prompt. Give one as an argument, `-` to read standard input, or --session to start idle.',
    );
  }
  return withClient(flags, async (client) => {
    const input = toInput(prompt, flags);
    const agentRun = await client.start(input, { workflowId: flags.id });
    const { workflowId } = agentRun;
    if (flags.detach === true || prompt === undefined) {
      if (flags.json === true) terminal.write(`${JSON.stringify({ workflowId })}\n`);
      else terminal.write(`${workflowId}\n`);
      terminal.note(hint(prompt === undefined ? 'prompt' : 'events', workflowId));
      return exitCodes.answered;
    }
    const lifetime = flags.session === true ? 'session' : 'run';
    // Before the id is told: whoever reads it may press Ctrl-C.
    using _ = abortOnInterrupt(agentRun, lifetime, terminal);
    terminal.note(
      terminal.noteColours.dim(`${workflowId} · ${commandName()} steer ${workflowId} "…"`),
    );
    const exitCode = await followRun(agentRun, terminal, {
      json: flags.json === true,
      untilAgentEnd: lifetime === 'session',
      toolOutput: flags.toolOutput === true,
    });
    if (lifetime === 'session') terminal.note(hint('prompt', workflowId));
    return exitCode;
  });
}

function hint(next: 'prompt' | 'events', workflowId: string): string {
  return next === 'prompt'
    ? `The session is open: ${commandName()} prompt ${workflowId} "…" · ${commandName()} close ${workflowId}`
    : `It runs on: ${commandName()} events ${workflowId} --follow · ${commandName()} abort ${workflowId}`;
}

export function toInput(prompt: string | undefined, flags: Partial<RunFlags>): AgentInput {
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(flags.agent === undefined ? {} : { agent: flags.agent }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.thinking === undefined ? {} : { thinkingLevel: flags.thinking }),
    ...(flags.tools === undefined ? {} : { tools: flags.tools }),
    ...(flags.workspace === undefined ? {} : { workspace: flags.workspace }),
    ...(flags.system === undefined ? {} : { systemPrompt: flags.system }),
    ...(flags.maxTurns === undefined ? {} : { limits: { maxTurns: flags.maxTurns } }),
    ...(flags.session === true ? { lifetime: 'session' as const } : {}),
  };
}

function toNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

export function toPositiveInteger(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Expected a whole number above 0.');
  return Number(text);
}
