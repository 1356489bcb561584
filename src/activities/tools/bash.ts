// The tool `bash`: one command in the workspace's folder. Output is streamed and bounded; on abort or
// time-out the command's processes are killed. What may escape that stands in `process-tree.ts`.

import type { JsonObject } from '../../protocol/json.js';
import type { ToolContext, ToolDefinition, ToolOutput } from '../definitions.js';
import { CommandOutput } from './command-output.js';
import type { CollectedOutput } from './command-output.js';
import { createOutputFile } from './output-file.js';
import { runShell } from './shell.js';
import type { ShellOutcome } from './shell.js';
import { longestTimerMs, stopCauseOf } from './stop-reason.js';
import { textArgument } from './tool-arguments.js';
import { realRoot, WorkspaceError } from './workspace-files.js';

const defaultTimeoutMs = 10 * 60_000;
/** The kernel takes arguments up to 128 KB. */
const maxCommandBytes = 120 * 1024;
/** Room that the last line of a result takes. */
const statusBytes = 200;

/** `maxToolTimeoutMs`: the longest a call may ask to run. */
export function createBashTool(maxToolTimeoutMs: number): ToolDefinition {
  const maxSeconds = Math.floor(maxToolTimeoutMs / 1000);
  return {
    name: 'bash',
    label: 'Run command',
    description:
      'Runs a command with bash in the workspace folder, without input, and returns what it writes to stdout and stderr. ' +
      'Of long output the end is returned, and all of it is kept in a file that is named then. Each call is a new shell.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', description: 'The command line.' },
        timeout: {
          type: 'number',
          description: `Seconds after which the command is killed. Default ${Math.min(600, maxSeconds)}, at most ${maxSeconds}.`,
        },
      },
      required: ['command'],
    },
    executionMode: 'parallel',
    effects: 'non-idempotent',
    timeoutMs: maxToolTimeoutMs,
    execute: (args, context) =>
      bash(args, context, Math.min(maxToolTimeoutMs, context.maxTimeoutMs)),
  };
}

async function bash(
  args: JsonObject,
  context: ToolContext,
  maxTimeoutMs: number,
): Promise<ToolOutput> {
  const command = textArgument(args, 'command');
  if (command.includes('\0')) throw new WorkspaceError('The command holds a NUL character.');
  if (Buffer.byteLength(command) > maxCommandBytes) {
    throw new WorkspaceError(
      'The command is longer than 120 KB. Write it to a file with write and run that file.',
    );
  }
  const timeoutMs = timeoutOf(args, maxTimeoutMs);
  const { root } = context.workspace;
  const output = new CommandOutput({
    maxBytes: Math.max(context.maxResultBytes - statusBytes, Math.ceil(context.maxResultBytes / 2)),
    redacting: context.redacting(),
    show: context.update,
    createFile: () => createOutputFile(root, context.toolCallId),
  });
  const outcome = await runShell({
    command,
    folder: await realRoot(root),
    environment: context.environment,
    timeoutMs,
    signal: context.signal,
    write: (piece) => output.write(piece),
  });
  return toOutput(outcome, await output.end(), statusOf(outcome, timeoutMs, context.signal));
}

function timeoutOf(args: JsonObject, maxMs: number): number {
  const seconds = args['timeout'];
  if (seconds === undefined || seconds === null) return Math.min(defaultTimeoutMs, maxMs);
  if (typeof seconds !== 'number' || !(seconds > 0)) {
    throw new TypeError('The argument timeout must be a number of seconds above 0.');
  }
  return Math.min(seconds * 1000, maxMs, longestTimerMs);
}

function toOutput(
  outcome: ShellOutcome,
  collected: CollectedOutput,
  status: string | undefined,
): ToolOutput {
  const text = collected.text.trimEnd();
  const background = outcome.background && outcome.stopped === undefined;
  const lines = [
    ...(text === '' ? [] : [text]),
    ...(text === '' && status === undefined && !background ? ['(no output)'] : []),
    ...(background
      ? [
          '[The command has ended; processes it started in the background still run, their further output is not shown.]',
        ]
      : []),
    ...(status === undefined ? [] : [`[${status}]`]),
  ];
  return {
    content: lines.join('\n'),
    isError: status !== undefined,
    details: {
      exitCode: outcome.exitCode,
      signal: outcome.signal,
      bytes: collected.bytes,
      ...(collected.file === undefined ? {} : { fullOutput: collected.file }),
      ...(outcome.stopped === undefined ? {} : { stopped: outcome.stopped }),
      ...(background ? { background } : {}),
    },
  };
}

/** How the command ended; undefined when it succeeded. */
function statusOf(
  outcome: ShellOutcome,
  timeoutMs: number,
  signal: AbortSignal,
): string | undefined {
  const rest = outcome.dead
    ? 'Its processes were killed'
    : 'Some of its processes may still be running';
  if (outcome.stopped === 'timeout') return `Timed out after ${timeoutMs / 1000} s. ${rest}`;
  if (outcome.stopped === 'signal') {
    const cause = stopCauseOf(signal);
    const fact = { abort: 'Aborted', timeout: 'Timed out', interrupted: 'Interrupted' }[cause];
    return outcome.dead ? `${fact}. ${rest}` : `${fact}, may still be running`;
  }
  if (outcome.signal !== null) return `Killed by ${outcome.signal}`;
  if (outcome.exitCode === 0) return undefined;
  return outcome.exitCode === null ? 'Ended without an exit code' : `Exit code ${outcome.exitCode}`;
}
