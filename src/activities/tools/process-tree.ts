// Finds and ends everything that one command started.
//
// A process belongs to the command when it is the command's shell, in its process group or session, a
// descendant of one that belongs, or carries the command's mark in its environment. The mark is what
// finds a daemon that left group and session and whose parent has ended.
//
// What can still escape: a process that has done all of that and cleared its environment; processes that
// another service starts on the command's behalf (docker, systemd, cron, at); processes of another user
// (sudo). On systems without /proc the mark is read from `ps`, which hides some programs' environments.
//
// Orphans that have ended are reaped by the system's init: a worker in a container needs one (`--init`).

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

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

/** The command's processes among `entries`. */
function membersOf(tree: ProcessTree, entries: readonly ProcessEntry[]): ReadonlySet<number> {
  const members = new Set<number>();
  for (;;) {
    const found = entries.filter(
      (entry) => !members.has(entry.pid) && belongs(entry, tree, members),
    );
    if (found.length === 0) return members;
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
  const seen: SeenMarks = new Map();
  const survivors = async () => {
    const entries = await targets(tree, known, seen);
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

/** Live processes that belong to the command, or did when they were seen before. */
async function targets(
  tree: ProcessTree,
  known: ReadonlyMap<number, string>,
  seen: SeenMarks,
): Promise<readonly ProcessEntry[]> {
  const entries = await listProcesses(tree.mark, seen);
  const members = membersOf(tree, entries);
  return entries.filter(
    (entry) => members.has(entry.pid) || known.get(entry.pid) === entry.startTime,
  );
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, or another user's.
  }
}

/** Zombies are not alive and not listed. */
async function listProcesses(mark: string, seen: SeenMarks): Promise<readonly ProcessEntry[]> {
  return process.platform === 'linux' ? listFromProc(mark, seen) : listFromPs(mark);
}

/** Whether a process, by id and start, carried the mark when it was first seen: that is read once. */
type SeenMarks = Map<string, boolean>;

/** Processes that are read before others get their turn: each takes some hundredths of a millisecond. */
const readAtOnce = 200;

/** Reads synchronously: these files are memory, and a busy thread pool must not delay an abort. */
async function listFromProc(mark: string, seen: SeenMarks): Promise<readonly ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  let count = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const entry = readProcess(name, mark, seen);
    if (entry !== undefined) entries.push(entry);
    count += 1;
    if (count % readAtOnce === 0) await nextTurn();
  }
  return entries;
}

function readProcess(pid: string, mark: string, seen: SeenMarks): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // The name, in parentheses, may itself hold parentheses and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (stat === '' || state === 'Z' || state === 'X') return undefined;
  const startTime = fields[19] ?? '';
  const key = `${pid} ${startTime}`;
  let marked = seen.get(key);
  if (marked === undefined) {
    const environment = readText(`/proc/${pid}/environ`);
    marked = environment.includes(mark);
    // Empty for a moment while a program is being replaced by another: then it is read again.
    if (environment !== '') seen.set(key, marked);
  }
  const ids = { pid: Number(pid), parent: Number(parent) };
  return { ...ids, group: Number(group), session: Number(session), startTime, marked };
}

/** Empty when the process is gone or another user's. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
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
