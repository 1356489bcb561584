// Finds and ends everything that one command started.
//
// A process belongs to the command when it is the command's shell, in its process group or session, a
// descendant of one that belongs, or carries the command's mark in its environment. The mark is what
// finds a daemon that left group and session and whose parent has ended.
//
// What can still escape: a process that has done all of that and cleared its environment; processes that
// another service starts on the command's behalf (docker, systemd, cron, at); processes of another user
// (sudo). On systems without /proc the mark is read from `ps`, which hides some programs' environments.

import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Environment variable that marks every process of a command; nested marks are joined by commas. */
export const markVariable = 'HOLDFAST_CALL';

export interface ProcessTree {
  /** The shell, leader of its own session and group. */
  readonly rootPid: number;
  readonly mark: string;
}

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Tells a process from a later one with the same id. */
  readonly startTime: string;
  readonly marked: boolean;
}

export interface KillTimes {
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** From SIGTERM to giving up. */
  readonly giveUpMs: number;
}

/** Live processes of the command; zombies are not alive. */
export async function membersOf(tree: ProcessTree): Promise<readonly ProcessEntry[]> {
  const entries = await listProcesses(tree.mark);
  const members = new Set<number>();
  for (;;) {
    const found = entries.filter(
      (entry) => !members.has(entry.pid) && belongs(entry, tree, members),
    );
    if (found.length === 0) return entries.filter((entry) => members.has(entry.pid));
    for (const entry of found) members.add(entry.pid);
  }
}

function belongs(entry: ProcessEntry, tree: ProcessTree, members: ReadonlySet<number>): boolean {
  if (entry.pid === process.pid) return false;
  return (
    entry.pid === tree.rootPid ||
    entry.group === tree.rootPid ||
    entry.session === tree.rootPid ||
    entry.marked ||
    members.has(entry.parent)
  );
}

/**
 * SIGTERM to every process of the command, SIGKILL to those that are left after `graceMs`. Resolves when
 * none is alive (`dead`) or `giveUpMs` have passed (`alive`). What was seen once stays a target, also
 * after its parent has died.
 */
export async function killTree(tree: ProcessTree, times: KillTimes): Promise<'dead' | 'alive'> {
  const started = performance.now();
  const known = new Map<number, string>();
  const survivors = async () => {
    const entries = await targets(tree, known);
    for (const entry of entries) known.set(entry.pid, entry.startTime);
    return entries;
  };

  for (const { pid } of await survivors()) {
    send(pid, 'SIGTERM');
    send(pid, 'SIGCONT');
  }
  while (performance.now() - started < times.graceMs) {
    await sleep(25);
    if ((await survivors()).length === 0) return 'dead';
  }
  for (;;) {
    await freeze(survivors);
    for (const { pid } of await survivors()) send(pid, 'SIGKILL');
    await sleep(25);
    if ((await survivors()).length === 0) return 'dead';
    if (performance.now() - started > times.giveUpMs) return 'alive';
  }
}

/** Stops all, until nothing new has appeared, so that a command which forks cannot outrun its end. */
async function freeze(survivors: () => Promise<readonly ProcessEntry[]>): Promise<void> {
  const stopped = new Set<number>();
  for (let round = 0; round < 20; round++) {
    const fresh = (await survivors()).filter((entry) => !stopped.has(entry.pid));
    if (fresh.length === 0) return;
    for (const { pid } of fresh) {
      send(pid, 'SIGSTOP');
      stopped.add(pid);
    }
  }
}

async function targets(
  tree: ProcessTree,
  known: ReadonlyMap<number, string>,
): Promise<readonly ProcessEntry[]> {
  const members = await membersOf(tree);
  if (known.size === 0) return members;
  const seen = new Set(members.map((entry) => entry.pid));
  const entries = await listProcesses(tree.mark);
  const lost = entries.filter(
    (entry) => !seen.has(entry.pid) && known.get(entry.pid) === entry.startTime,
  );
  return [...members, ...lost];
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, or another user's.
  }
}

async function listProcesses(mark: string): Promise<readonly ProcessEntry[]> {
  return process.platform === 'linux' ? listFromProc(mark) : listFromPs(mark);
}

async function listFromProc(mark: string): Promise<readonly ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(pids.map((pid) => readProcess(pid, mark)));
  return entries.filter((entry) => entry !== undefined);
}

async function readProcess(pid: string, mark: string): Promise<ProcessEntry | undefined> {
  try {
    const [stat, environment] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    ]);
    // The name, in parentheses, may itself hold parentheses and spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent, group, session] = fields;
    if (state === 'Z' || state === 'X') return undefined;
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      startTime: fields[19] ?? '',
      marked: environment.includes(mark),
    };
  } catch {
    return undefined;
  }
}

async function listFromPs(mark: string): Promise<readonly ProcessEntry[]> {
  const columns = 'pid=,ppid=,pgid=,stat=,lstart=,command=';
  const text = await new Promise<string>((resolve) => {
    const options = { maxBuffer: 64 * 1024 * 1024, env: { PATH: process.env['PATH'] ?? '' } };
    execFile('ps', ['-axEww', '-o', columns], options, (_, stdout) => resolve(stdout));
  });
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.{24})/.exec(line);
    if (match === null || match[4]?.startsWith('Z') === true) return [];
    const [, pid, parent, group, , startTime = ''] = match;
    const marked = line.includes(mark);
    const ids = { pid: Number(pid), parent: Number(parent), group: Number(group), session: 0 };
    return [{ ...ids, startTime, marked }];
  });
}
