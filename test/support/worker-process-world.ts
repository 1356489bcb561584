// A world for recovery tests: a scripted model, a workspace, gates, and workers as processes of their own
// that are killed with SIGKILL while what they do is known.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { inject, vi } from 'vitest';
import { AgentClient } from '../../src/client/index.js';
import type { UserConfig } from '../../src/config/index.js';
import { textOf } from '../../src/protocol/messages.js';
import type { ToolResultMessage } from '../../src/protocol/messages.js';
import { startScriptedModel } from '../../src/testing/scripted-model.js';
import type { Script, ScriptedModel, ScriptedRequest } from '../../src/testing/scripted-model.js';
import { messagesOf } from './agent-world.js';
import { createGates } from './worker-process-gates.js';
import type { Gates } from './worker-process-gates.js';
import './provided.js';

export interface WorkerProcessOptions {
  readonly address: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
  /** Of the scripted model. */
  readonly baseURL: string;
  readonly workspace: string;
  /** Folder of the gates. */
  readonly gates: string;
  /** Merged over the config in `worker-process.ts`; JSON only. */
  readonly config?: UserConfig;
}

export interface WorkerProcess {
  readonly pid: number;
  /** SIGKILL. Answers when, in `performance.now()`, once the process is gone. */
  kill(): Promise<number>;
  /** SIGTERM: the worker shuts down in good order. */
  terminate(): void;
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

export interface KillWorldOptions {
  /** Default: replies that tests add. */
  readonly script?: Script;
  readonly address?: string;
  /** Of every worker. */
  readonly config?: UserConfig;
}

export interface KillWorld extends AsyncDisposable {
  readonly client: AgentClient;
  readonly model: ScriptedModel;
  readonly gates: Gates;
  readonly taskQueue: string;
  /** Absolute path of the default workspace. */
  readonly workspace: string;
  /** The worker that runs at present; throws when there is none. */
  readonly worker: WorkerProcess;
  /** Starts a worker, which becomes the present one; resolves when it polls. */
  startWorker(config?: UserConfig): Promise<WorkerProcess>;
  /** Starts another worker, and kills the present one once the other polls. Answers when it was killed. */
  takeOver(config?: UserConfig): Promise<number>;
  /** Kills the present worker: none is left. */
  killWorker(): Promise<number>;
  /** The request that the model gets next. */
  nextRequest(): Promise<ScriptedRequest>;
  /** Resolves with the process that was the `times`-th to reach the gate. */
  reached(gate: string, times?: number): Promise<number>;
  /** Opens all gates. @throws when the model was asked for more or less than the script holds */
  reset(): void;
  /** The text of a file of the workspace; empty when it is not there. */
  file(path: string): Promise<string>;
}

export async function createKillWorld(options: KillWorldOptions = {}): Promise<KillWorld> {
  const address = options.address ?? inject('serverAddress');
  const model = await startScriptedModel(options.script ?? []);
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-recovery-'));
  const workspace = await mkdtemp(join(folder, 'workspace-'));
  const gates = createGates(join(folder, 'gates'));
  const taskQueue = `recovery-${crypto.randomUUID()}`;
  const connection = await Connection.connect({
    address,
    channelArgs: {
      // Whole histories are read, in pages of up to a thousand events.
      'grpc.max_receive_message_length': -1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    },
  });
  const client = await AgentClient.connect({ connection, address, taskQueue });
  const started: WorkerProcess[] = [];
  let present: WorkerProcess | undefined;

  const startWorker = async (config: UserConfig = {}) => {
    const worker = await startWorkerProcess({
      address,
      taskQueue,
      bundlePath: inject('bundlePath'),
      baseURL: model.baseURL,
      workspace,
      gates: gates.folder,
      config: { ...options.config, ...config },
    });
    started.push(worker);
    present = worker;
    return worker;
  };
  const presentWorker = () => {
    if (present === undefined) throw new Error('No worker runs.');
    return present;
  };

  return {
    client,
    model,
    gates,
    taskQueue,
    workspace,
    get worker() {
      return presentWorker();
    },
    startWorker,
    async takeOver(config) {
      const victim = presentWorker();
      await startWorker(config);
      return victim.kill();
    },
    async killWorker() {
      const victim = presentWorker();
      present = undefined;
      return victim.kill();
    },
    nextRequest: () => model.request(model.requests.length),
    reached: (gate, times = 1) =>
      vi.waitFor(
        () => {
          const pid = gates.reached(gate)[times - 1];
          if (pid === undefined) throw new Error(`nobody has reached ${gate} ${times} times`);
          return pid;
        },
        { timeout: 30_000, interval: 20 },
      ),
    reset() {
      gates.reset();
      const { faults, remaining } = model;
      if (faults.length > 0 || remaining > 0) {
        throw new Error(`${remaining} replies were not asked for. ${faults.join(' ')}`);
      }
    },
    file: (path) => readFile(join(workspace, path), 'utf8').catch(() => ''),
    async [Symbol.asyncDispose]() {
      for (const worker of started) await worker.kill();
      await connection.close();
      await model.close({ expectFaults: true });
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** However the tests end, their workers end with them. */
const children = new Set<ChildProcess>();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));

export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'test/support/worker-process.ts', JSON.stringify(options)],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  children.add(child);
  const written = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  const ended = once(child, 'exit').then(([code]) => {
    children.delete(child);
    return code as number | null;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => written.stdout.includes('ready\n') && resolve());
    void ended.then(() => reject(new Error(`A worker ended before it polled: ${written.stderr}`)));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    async kill() {
      const killedAt = performance.now();
      child.kill('SIGKILL');
      await ended;
      return killedAt;
    },
    terminate: () => void child.kill('SIGTERM'),
  };
}

/** The tool results of a transcript, in order, as text and whether they are errors. */
export async function resultsOf(
  run: Parameters<typeof messagesOf>[0],
): Promise<readonly { readonly text: string; readonly isError: boolean }[]> {
  const messages = await messagesOf(run);
  return messages
    .filter((message): message is ToolResultMessage => message.role === 'toolResult')
    .map(({ content, isError }) => ({ text: textOf(content), isError }));
}

/** The roles of a transcript, in order: `user assistant toolResult assistant`. */
export async function rolesOf(run: Parameters<typeof messagesOf>[0]): Promise<string> {
  return (await messagesOf(run)).map(({ role }) => role).join(' ');
}
