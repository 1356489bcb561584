// Kills something in the middle of the run, starts it again, and says how long the run stood still.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentClient } from '../../src/client/index.js';
import type { Screen } from '../../src/demo/screen.js';
import { runningActivity } from './crew.js';
import type { RunningActivity } from './crew.js';
import { inTime } from './patience.js';
import type { Stack } from './stack.js';

export interface Strike {
  readonly target: 'a worker' | 'the Temporal server' | 'PostgreSQL';
  readonly activity: 'completeChat' | 'callTool';
  readonly turn: number;
  readonly kill: (running: RunningActivity) => Promise<void>;
  /** What happens at once while it is away. */
  readonly meanwhile?: () => Promise<void>;
  /** How long it is left away. */
  readonly awayMs?: number;
  /** Starts it again; resolves when it is ready. */
  readonly restart: () => Promise<void>;
  /** Resolves at a step of the run that may come before its next model call. */
  readonly step?: () => Promise<void>;
}

export interface StrikeReport {
  readonly target: Strike['target'];
  readonly activity: Strike['activity'];
  readonly turn: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** From the kill until what was killed is there again. */
  readonly backMs: number;
  /** From the kill until the run's next model call reaches the model, or its next command runs. */
  readonly onMs: number;
}

export const names = { completeChat: 'a model call', callTool: 'a tool call' };

/** @throws when the run is not in the middle of what it is to be struck in, or does not go on */
export async function strike(
  { target, activity, turn, kill, meanwhile, awayMs = 0, restart, step }: Strike,
  { client, screen, stack, workflowId }: StrikeScene,
): Promise<StrikeReport> {
  const running = await runningActivity(client, workflowId);
  if (running?.type !== activity) {
    throw new Error(`In turn ${turn} ${running?.type ?? 'nothing'} ran instead of ${activity}.`);
  }
  const modelCall = stack.model.request(stack.model.requests.length);
  const at = Date.now();
  const began = performance.now();
  const since = () => Math.round(performance.now() - began);
  await kill(running);
  screen.step(`kill -9: ${target} is dead, in ${names[activity]} of turn ${turn}`);
  const next = Promise.race([modelCall, ...(step === undefined ? [] : [step()])]).then(since);
  await meanwhile?.();
  await sleep(awayMs);
  await restart();
  const backMs = since();
  screen.step(`${target} is there again after ${seconds(backMs)}`);
  const onMs = await inTime('The next step of the run', next, client, workflowId);
  screen.step(`The run goes on: its next step came ${seconds(onMs)} after the kill`);
  return { target, activity, turn, at, backMs, onMs };
}

export interface StrikeScene {
  readonly client: AgentClient;
  readonly screen: Screen;
  readonly stack: Stack;
  readonly workflowId: string;
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
