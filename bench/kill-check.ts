// What must hold of a run whose worker was killed again and again.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import type { AgentClient, AgentRun } from '../src/client/index.js';
import type { LoggedEvent } from '../src/protocol/events.js';
import { textOf, toolCallsOf } from '../src/protocol/messages.js';
import type { Message, ToolResultMessage } from '../src/protocol/messages.js';
import { findViolations } from '../src/testing/invariants.js';
import { bundleWorkflows } from '../src/worker/bundle.js';
import { refusingStorage } from '../src/worker/refused-references.js';
import { callsOf, editedFile, logFile, promptOfRun, turnsPerRun } from './kill-script.js';
import type { KillRun } from './kill-script.js';

export interface CheckedRun {
  readonly violations: readonly string[];
  /** Results that say the outcome is unknown. */
  readonly unknownOutcomes: number;
}

/** What is known of a run without its server. */
export interface RunRecord {
  readonly events: readonly LoggedEvent[];
  readonly messages: readonly Message[];
}

/** Checks a run that has ended, its replay included. */
export async function checkRun(
  client: AgentClient,
  run: AgentRun,
  plan: KillRun,
  workspace: string,
): Promise<CheckedRun> {
  const events: LoggedEvent[] = [];
  for await (const event of run.loggedEvents()) events.push(event);
  const messages: Message[] = [];
  for await (const message of run.messages()) messages.push(message);
  const { violations, unknownOutcomes } = await checkRecord({ events, messages }, plan, workspace);
  const replay = await replayFaults(client, run.workflowId);
  return { violations: [...violations, ...replay], unknownOutcomes };
}

/** Checks what a run said of itself against its plan, and against what its tools left in the workspace. */
export async function checkRecord(
  { events, messages }: RunRecord,
  plan: KillRun,
  workspace: string,
): Promise<CheckedRun> {
  const results = messages.filter((message) => message.role === 'toolResult');
  return {
    violations: [
      ...findViolations({ events, messages, inputs: [{ message: promptOfRun(plan) }] }),
      ...transcriptFaults(messages, plan),
      ...(await effectFaults(results, plan, workspace)),
    ],
    unknownOutcomes: results.filter(isUnknown).length,
  };
}

/** The transcript is the planned one: each turn once, with its calls in order. */
function transcriptFaults(messages: readonly Message[], plan: KillRun): readonly string[] {
  const answers = messages.filter((message) => message.role === 'assistant');
  if (answers.length !== turnsPerRun + 1) return [`${answers.length} answers`];
  return answers.flatMap((answer, index) => {
    const turn = index + 1;
    const wanted = turn > turnsPerRun ? [] : callsOf(plan, turn);
    const asked = toolCallsOf(answer).map(({ name, arguments: args }) => ({
      name,
      arguments: args,
    }));
    const isSame = JSON.stringify(asked) === JSON.stringify(wanted);
    return isSame ? [] : [`turn ${turn} has other calls than the model asked for`];
  });
}

/** No effect twice; an effect that was reported as done exactly once. */
async function effectFaults(
  results: readonly ToolResultMessage[],
  plan: KillRun,
  workspace: string,
): Promise<readonly string[]> {
  const log = await readFile(join(workspace, logFile(plan)), 'utf8').catch(() => '');
  const edited = await readFile(join(workspace, editedFile(plan)), 'utf8').catch(() => '');
  const lines = `${log}\n${edited}`.split('\n');
  let next = 0;
  const faults: string[] = [];
  for (let turn = 1; turn <= turnsPerRun; turn++) {
    for (const [index, call] of callsOf(plan, turn).entries()) {
      const result = results[next++];
      if (call.name !== 'bash' && call.name !== 'edit') continue;
      const key = `${plan.name}/${turn}/${index}`;
      const times = lines.filter((line) => line === key).length;
      const isDone = result !== undefined && !result.isError;
      if (times > 1) faults.push(`${call.name} ${key} happened ${times} times`);
      if (isDone && times === 0) faults.push(`${call.name} ${key} is said to be done and is not`);
    }
  }
  return faults;
}

async function replayFaults(client: AgentClient, workflowId: string): Promise<readonly string[]> {
  const history = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  try {
    await Worker.runReplayHistory(
      {
        workflowBundle: { codePath: await bundleWorkflows() },
        dataConverter: { externalStorage: refusingStorage },
      },
      history,
      workflowId,
    );
    return [];
  } catch (error) {
    return [`the replay failed: ${String(error)}`];
  }
}

function isUnknown({ isError, content }: ToolResultMessage): boolean {
  return isError && /unknown/i.test(textOf(content));
}
