// Options that several commands share, and the client they lead to.

import type { Command } from 'commander';
import { AgentClient } from '../client/index.js';
import { configuredAddress, localServerAddress } from '../dev-server/index.js';

export interface ServerFlags {
  readonly address?: string;
  readonly namespace?: string;
}

export function addServerOptions(command: Command): Command {
  return command
    .option('--address <host:port>', 'Temporal server (default: TEMPORAL_ADDRESS, temporal.toml)')
    .option(
      '--namespace <name>',
      'Temporal namespace (default: TEMPORAL_NAMESPACE, temporal.toml)',
    );
}

export interface AgentFlags {
  readonly agent?: string;
}

/** For commands about one session. */
export function addAgentOption(command: Command): Command {
  return command.option(
    '--agent <name>',
    'which agent of a workflow that has several (default: the first)',
  );
}

/**
 * The server that is meant: the flag, Temporal's configuration, a running `holdfast dev` on whatever port
 * it found; undefined for Temporal's own default.
 */
export async function chosenAddress({ address }: ServerFlags): Promise<string | undefined> {
  return address ?? configuredAddress() ?? (await localServerAddress());
}

/** Runs `action` with a connected client, which is closed whatever happens. */
export async function withClient<T>(
  flags: ServerFlags & { readonly taskQueue?: string },
  action: (client: AgentClient) => Promise<T>,
): Promise<T> {
  const client = await AgentClient.connect({ ...flags, address: await chosenAddress(flags) });
  try {
    return await action(client);
  } finally {
    await client.close();
  }
}

/** Text given as an argument, or all of standard input for `-`. */
export async function readText(argument: string): Promise<string> {
  if (argument !== '-') return argument;
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8').trimEnd();
}

/** The help text that ends each command's `--help`. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}
