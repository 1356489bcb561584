// The demo's story: an agent mends a little project while its workers are killed, first in a model call,
// then in a tool call, and a person steers it in between, when no worker is there.

import { setTimeout as sleep } from 'node:timers/promises';
import { AgentClient } from '../client/index.js';
import type { AgentRun, FollowedEvent } from '../client/index.js';
import { defaultTaskQueue } from '../protocol/session.js';
import type { Belongings } from './belongings.js';
import { checkFacts } from './checks.js';
import { announcement, gatherFacts } from './facts.js';
import type { Kills } from './facts.js';
import type { Screen } from './screen.js';
import { hangingTurn, prompt, steered } from './script.js';
import { createSetting } from './setting.js';
import type { Setting } from './setting.js';
import { steer, steerCommandLine } from './steer.js';
import { Watch } from './watch.js';
import { isProcessAlive, startWorkerProcess } from './worker-process.js';
import type { WorkerProcess } from './worker-process.js';

const workflowId = 'demo';

export interface DemoOutcome {
  /** Every claim that could be checked holds. */
  readonly holds: boolean;
  readonly address: string;
  /** The agent in the Web UI. */
  readonly uiAddress: string;
}

/** @throws when the story cannot be played to its end. */
export async function runDemo(screen: Screen, belongings: Belongings): Promise<DemoOutcome> {
  const setting = await createSetting(belongings, (line) => screen.step(line));
  const { server, model } = setting;
  const { address } = server;
  const uiAddress = `${server.uiAddress}/namespaces/default/workflows/${workflowId}`;
  screen.step(`Temporal server on ${address}, Web UI ${server.uiAddress}`);
  screen.step(model === undefined ? 'The model is the one OPENAI_* name' : 'The model is scripted');

  const nextWorker = workerStarter(setting, screen, belongings);
  const first = await nextWorker();
  // Never closed: a call that is being retried would throw out of a timer. The process ends soon after.
  const client = await AgentClient.connect({ address });
  const run = await client.start(prompt, { workflowId });
  screen.step(`Agent '${workflowId}' works in ${setting.workspace}`);
  const watch = new Watch(run, screen);
  belongings.add(async () => watch.stop());

  const scene = { run, client, watch, screen, setting, nextWorker, first };
  const kills = await inTime(playKills(scene), model !== undefined);
  await inTime(watch.ended, model !== undefined);
  const result = await run.result();
  screen.line(`\nAnswer (${result.stopReason}): ${result.response?.content ?? '(none)'}`);

  const facts = await gatherFacts({ run, client, screen, setting, kills });
  const checks = checkFacts(facts);
  screen.table(checks);
  return { holds: checks.every(({ verdict }) => verdict !== 'broken'), address, uiAddress };
}

/** A demo that hangs should say so. A real model may think for long. */
async function inTime<T>(part: Promise<T>, isScripted: boolean): Promise<T> {
  const minutes = isScripted ? 2 : 20;
  const timer = new AbortController();
  const late = sleep(minutes * 60_000, 'late' as const, timer);
  try {
    const first = await Promise.race([part, late]);
    if (first === 'late') throw new Error(`It did not come to its end within ${minutes} minutes.`);
    return first;
  } finally {
    late.catch(() => undefined);
    timer.abort();
  }
}

function workerStarter({ server, configFile }: Setting, screen: Screen, belongings: Belongings) {
  let number = 0;
  return async (): Promise<WorkerProcess> => {
    number += 1;
    const worker = await startWorkerProcess({
      address: server.address,
      taskQueue: defaultTaskQueue,
      configFile,
      started: (process) => belongings.add(() => process.stop()),
    });
    screen.step(`Worker ${number} polls (process ${worker.pid})`);
    return worker;
  };
}

interface Scene {
  readonly run: AgentRun;
  readonly client: AgentClient;
  readonly watch: Watch;
  readonly screen: Screen;
  readonly setting: Setting;
  readonly nextWorker: () => Promise<WorkerProcess>;
  readonly first: WorkerProcess;
}

async function playKills(scene: Scene): Promise<Kills> {
  const { watch, screen, setting, nextWorker } = scene;
  // Asked for now: a real model may come to it before its second model call is caught.
  const announcing = watch.when((event) => announcement(event) !== undefined);

  if (!(await catchModelCall(scene))) return {};
  const modelKill = { at: await scene.first.kill() };
  screen.step(`kill -9 ${scene.first.pid}: worker 1 is dead, in a model call`);
  const { server, temporalPath } = setting;
  const steering = { temporalPath, address: server.address, workflowId, text: steered };
  screen.step('No worker is there; a person steers all the same, by the stock CLI:');
  screen.line(`          $ ${steerCommandLine(steering)}`);
  screen.line(`          ${await steer(steering)}`);
  const second = await nextWorker();

  const command = announcement(await announcing);
  if (command === undefined || !(await isProcessAlive(command.pid))) return { modelKill };
  const at = await second.kill();
  screen.step(`kill -9 ${second.pid}: worker 2 is dead, in a tool call`);
  await nextWorker();
  return { modelKill, toolKill: { at, ...command } };
}

/** Resolves in the middle of a model call after the first turn; false when the agent ended before. */
async function catchModelCall({ watch, client, setting }: Scene): Promise<boolean> {
  if (setting.model !== undefined) {
    const isUpdate = ({ type, ...event }: FollowedEvent) =>
      type === 'message_update' && 'turn' in event && event.turn === hangingTurn;
    if ((await watch.when(isUpdate)) === undefined) return false;
    // So that there is a piece of text to lose.
    await sleep(700);
    return true;
  }
  const begun = await watch.when((event) => event.type === 'turn_start' && event.turn > 1);
  if (begun === undefined) return false;
  const handle = client.temporal.workflow.getHandle(workflowId);
  for (;;) {
    const { raw, status } = await handle.describe();
    if (status.name !== 'RUNNING') return false;
    const isCalling = (raw.pendingActivities ?? []).some(
      ({ activityType, lastStartedTime }) =>
        activityType?.name === 'completeChat' && lastStartedTime != null,
    );
    if (isCalling) return true;
    await sleep(50);
  }
}
