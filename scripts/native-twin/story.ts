// The demo's run, told again on the whole deployment: an agent mends a little project while workers, the
// Temporal server and PostgreSQL are killed in turn, each in the middle of what the run does.

import { AgentClient } from '../../src/client/index.js';
import type { AgentRun, FollowedEvent } from '../../src/client/index.js';
import type { Belongings } from '../../src/demo/belongings.js';
import { checkFacts } from '../../src/demo/checks.js';
import type { Check } from '../../src/demo/checks.js';
import { announcement, gatherFacts } from '../../src/demo/facts.js';
import type { Kills } from '../../src/demo/facts.js';
import type { Screen } from '../../src/demo/screen.js';
import { hangingTurn, prompt, scriptedAnswers, steered } from '../../src/demo/script.js';
import { steer } from '../../src/demo/steer.js';
import { Watch } from '../../src/demo/watch.js';
import { textOf } from '../../src/protocol/messages.js';
import { deploymentChecks } from './deployment-checks.js';
import { inTime } from './patience.js';
import type { HeldTurns, Stack } from './stack.js';
import { strike } from './strikes.js';
import type { Strike, StrikeReport } from './strikes.js';

const workflowId = 'twin';

/** The turns the run is held in, so that there is time to kill something. */
export const heldTurns: HeldTurns = { modelCalls: [3, 6], commands: [4, 6] };

export interface StoryOptions {
  readonly screen: Screen;
  readonly belongings: Belongings;
  /** How long server and database are left away before they are started again. */
  readonly awayMs: number;
}

export interface StoryOutcome {
  readonly checks: readonly Check[];
  readonly strikes: readonly StrikeReport[];
  /** Turns whose command was told as unknown although its worker lived. */
  readonly unknownTurns: readonly number[];
}

/** @throws when the story cannot be told to its end */
export async function tellStory(
  stack: Stack,
  { screen, belongings, awayMs }: StoryOptions,
): Promise<StoryOutcome> {
  const client = await AgentClient.connect({ address: stack.server.address });
  const run = await client.start(prompt, { workflowId });
  screen.step(`Agent '${workflowId}' works in ${stack.workspace}`);
  const watch = new Watch(run, screen);
  belongings.add(async () => watch.stop());
  const { strikes, kills } = await strikeInTurn({ stack, screen, client, watch, awayMs });
  await inTime('The end', watch.ended, client, workflowId);
  const result = await run.result();
  screen.line(`\nAnswer (${result.stopReason}): ${result.response?.content ?? '(none)'}`);
  const unknownTurns = await turnsToldAsUnknown(run);
  const sources = { run, client, screen, setting: stack, kills };
  const facts = await gatherFacts({ ...sources, repeatedTurns: unknownTurns });
  const checks = [...checkFacts(facts), ...(await deploymentChecks({ client, workflowId, stack }))];
  return { checks, strikes, unknownTurns };
}

interface Scene {
  readonly stack: Stack;
  readonly screen: Screen;
  readonly client: AgentClient;
  readonly watch: Watch;
  readonly awayMs: number;
}

async function strikeInTurn(
  scene: Scene,
): Promise<{ readonly strikes: readonly StrikeReport[]; readonly kills: Kills }> {
  const { stack, screen, client, watch, awayMs } = scene;
  const { crew, server, postgresql, gates, temporalPath } = stack;
  const announcing = watch.when((event) => announcement(event) !== undefined);
  const hit = (what: Strike) => strike(what, { client, screen, stack, workflowId });
  const soon = <T>(what: string, part: Promise<T>) => inTime(what, part, client, workflowId);

  const part = (event: FollowedEvent) =>
    event.type === 'message_update' && event.turn === hangingTurn;
  const begun = await soon('The answer of turn 2', watch.when(part));
  if (begun === undefined) throw new Error('The run ended before its turn 2.');
  const inModelCall = await hit({
    target: 'a worker',
    activity: 'completeChat',
    turn: hangingTurn,
    kill: ({ pid }) => crew.kill(pid),
    meanwhile: async () => {
      await steer({ temporalPath, address: server.address, workflowId, text: steered });
      screen.step('A person steers by the stock CLI');
    },
    restart: () => crew.complete(),
  });

  await soon('The answer of turn 3', gates.modelAnswers(3));
  const serverInModelCall = await hit({
    target: 'the Temporal server',
    activity: 'completeChat',
    turn: 3,
    kill: () => server.kill(),
    // What runs ends while there is nobody to hear of it: so with all that follow.
    meanwhile: async () => gates.releaseModelCall(3),
    awayMs,
    restart: () => server.start(),
  });

  await soon('The command of turn 4', gates.commandRuns(4));
  const databaseInToolCall = await hit({
    target: 'PostgreSQL',
    activity: 'callTool',
    turn: 4,
    kill: () => postgresql.kill(),
    meanwhile: () => gates.releaseCommand(4),
    awayMs,
    restart: () => postgresql.start(),
  });

  const command = announcement(await soon('The announcement', announcing));
  if (command === undefined) throw new Error('The run ended before its note was announced.');
  const inToolCall = await hit({
    target: 'a worker',
    activity: 'callTool',
    turn: 5,
    kill: ({ pid }) => crew.kill(pid),
    restart: () => crew.complete(),
  });

  await soon('The answer of turn 6', gates.modelAnswers(6));
  const databaseInModelCall = await hit({
    target: 'PostgreSQL',
    activity: 'completeChat',
    turn: 6,
    kill: () => postgresql.kill(),
    meanwhile: async () => gates.releaseModelCall(6),
    awayMs,
    restart: () => postgresql.start(),
    step: () => gates.commandRuns(6),
  });

  await soon('The command of turn 6', gates.commandRuns(6));
  const serverInToolCall = await hit({
    target: 'the Temporal server',
    activity: 'callTool',
    turn: 6,
    kill: () => server.kill(),
    meanwhile: () => gates.releaseCommand(6),
    awayMs,
    restart: () => server.start(),
  });

  const inModelCalls = [inModelCall, serverInModelCall, databaseInModelCall];
  const inToolCalls = [inToolCall, serverInToolCall, databaseInToolCall];
  return {
    strikes: [...inModelCalls, ...inToolCalls],
    kills: { modelKill: { at: inModelCall.at }, toolKill: { at: inToolCall.at, ...command } },
  };
}

/**
 * Which held commands have lost their result. A server that hears nothing of a tool call for the heartbeat
 * time-out has to take its worker for dead: whether it does depends on how long an outage takes.
 */
async function turnsToldAsUnknown(run: AgentRun): Promise<readonly number[]> {
  const { texts } = scriptedAnswers();
  const unknown = new Set<string | undefined>();
  let answer = '';
  for await (const message of run.messages()) {
    if (message.role === 'assistant') answer = textOf(message.content);
    if (message.role !== 'toolResult') continue;
    if (/outcome of this call is unknown/.test(textOf(message.content))) unknown.add(answer);
  }
  return heldTurns.commands.filter((turn) => unknown.has(texts[turn - 1]));
}
