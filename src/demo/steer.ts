// Steers by the stock Temporal CLI: nothing of Holdfast is needed to talk to an agent.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface SteerCommand {
  readonly temporalPath: string;
  readonly address: string;
  readonly workflowId: string;
  readonly text: string;
}

function argumentsOf({ address, workflowId, text }: SteerCommand): readonly string[] {
  const target = ['--address', address, '--workflow-id', workflowId];
  return ['workflow', 'signal', ...target, '--name', 'steer', '--input', JSON.stringify(text)];
}

/** The command as a shell takes it. */
export function steerCommandLine(command: SteerCommand): string {
  return [command.temporalPath, ...argumentsOf(command)].map((word) => quoted(word)).join(' ');
}

function quoted(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** What the command prints. */
export async function steer(command: SteerCommand): Promise<string> {
  const { stdout } = await promisify(execFile)(command.temporalPath, argumentsOf(command));
  return stdout.trim();
}
