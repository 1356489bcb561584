// Gathers what the demo checks at its end, from the server, the files and the processes.

import type { WorkflowHandle } from '@temporalio/client';
import { WorkerUnreachable } from '../client/index.js';
import type { AgentClient, AgentRun, FollowedEvent } from '../client/index.js';
import type { ScriptedModel } from '../testing/scripted-model.js';
import type { DemoFacts } from './checks.js';
import { recordedActivities } from './recorded-activities.js';
import { lookAtProject } from './sample-project.js';
import type { Screen } from './screen.js';
import { prompt, scriptedAnswers, steered } from './script.js';
import { isProcessAlive } from './worker-process.js';

/** How often a worker that does not answer is asked. */
const patience = 6;

/** The workers that were killed; a person steered after the first. */
export type Kills = Pick<DemoFacts, 'modelKill'> & {
  readonly toolKill?: {
    readonly at: number;
    readonly toolCallId: string;
    /** The command's process. */
    readonly pid: number;
  };
};

export interface FactSources {
  readonly run: AgentRun;
  readonly client: AgentClient;
  readonly screen: Screen;
  readonly setting: {
    readonly workspace: string;
    /** Absent: the real provider answered. */
    readonly model?: ScriptedModel;
  };
  readonly kills: Kills;
  /** Turns whose command was told as unknown and had to be repeated. */
  readonly repeatedTurns?: readonly number[];
}

export async function gatherFacts(sources: FactSources): Promise<DemoFacts> {
  const { run, client, screen, setting, kills } = sources;
  const { modelKill, toolKill } = kills;
  const handle: WorkflowHandle = client.temporal.workflow.getHandle(run.workflowId);
  const [events, messages, history, description, project] = await Promise.all([
    collected(() => run.loggedEvents()),
    collected(() => run.messages()),
    handle.fetchHistory(),
    handle.describe(),
    lookAtProject(setting.workspace),
  ]);
  const { model } = setting;
  return {
    events,
    messages,
    prompt,
    ...(modelKill === undefined ? {} : { steered }),
    shown: screen.shown,
    project,
    activities: recordedActivities(history),
    history: { events: description.historyLength, bytes: description.historySize ?? 0 },
    ...(modelKill === undefined ? {} : { modelKill }),
    ...(toolKill === undefined
      ? {}
      : { toolKill: { ...toolKill, alive: await isProcessAlive(toolKill.pid) } }),
    ...(model === undefined
      ? {}
      : { script: { ...scriptedAnswers(sources.repeatedTurns), faults: model.faults } }),
  };
}

/** The command that must not run twice, while it runs: with its process. */
export function announcement(
  event: FollowedEvent | undefined,
): { readonly toolCallId: string; readonly pid: number } | undefined {
  if (event?.type !== 'tool_execution_update') return undefined;
  const match = /note added by process (\d+)\n/.exec(event.partialResult);
  return match === null ? undefined : { toolCallId: event.toolCallId, pid: Number(match[1]) };
}

/** All of them. The worker that was just started may take a busy machine a while to answer. */
async function collected<T>(read: () => AsyncIterable<T>): Promise<readonly T[]> {
  for (let tries = 1; ; tries++) {
    try {
      const list: T[] = [];
      for await (const item of read()) list.push(item);
      return list;
    } catch (error) {
      if (!(error instanceof WorkerUnreachable) || tries === patience) throw error;
    }
  }
}
