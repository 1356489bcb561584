import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { gone, isAlive, processesOf, running, uniqueSleep } from './processes.js';
import { createToolWorld } from './tool-world.js';

const host = fileURLToPath(new URL('bash-host.ts', import.meta.url));

function startHost(root: string, command: string, detached = false) {
  const child = spawn(process.execPath, ['--import', 'tsx', host, root, command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached,
  });
  return { child, exited: once(child, 'exit') };
}

const trees = {
  'a child that ignores SIGTERM': (sleep: string) => `trap '' TERM HUP; ${sleep}; ${sleep}`,
  'a session of its own': (sleep: string) => `setsid ${sleep} & wait`,
  'a daemon that forked twice and left the session': (sleep: string) =>
    `(setsid sh -c '(${sleep} &)' >/dev/null 2>&1 &); sleep 600`,
  nohup: (sleep: string) => `nohup ${sleep} >/dev/null 2>&1 & wait`,
  'a descendant with a cleared environment': (sleep: string) =>
    `env -i PATH="$PATH" setsid sh -c '${sleep}; true' & wait`,
  'one that forks without end': (sleep: string) =>
    `while true; do setsid ${sleep} & sleep 0.02; done`,
};

describe('when the worker is killed', () => {
  test.each(Object.entries(trees))(
    'SIGKILL: its command dies with it: %s',
    async (_, toCommand) => {
      await using world = await createToolWorld();
      const sleep = uniqueSleep();
      const { child, exited } = startHost(world.root, toCommand(sleep));
      await running(sleep);
      child.kill('SIGKILL');
      await exited;
      await gone(sleep);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(processesOf(sleep)).toEqual([]);
    },
  );

  test('SIGKILL of its whole process group, as a terminal or an init system sends it', async () => {
    await using world = await createToolWorld();
    const sleep = uniqueSleep();
    const { child, exited } = startHost(world.root, `${sleep}; true`, true);
    await running(sleep);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await exited;
    await gone(sleep);
    expect(processesOf(sleep)).toEqual([]);
  });

  test('the supervisor itself was killed before: a new one has taken over the running command', async () => {
    await using world = await createToolWorld();
    const sleep = uniqueSleep();
    const { child, exited } = startHost(world.root, `${sleep}; true`);
    await running(sleep);
    const supervisors = () => childrenOf(child.pid ?? 0, 'read -r verb');
    const [first = 0] = await supervisors();
    process.kill(first, 'SIGKILL');
    await vi.waitFor(async () => {
      const [second] = await supervisors();
      expect(second).toBeDefined();
      expect(second).not.toBe(first);
    });
    child.kill('SIGKILL');
    await exited;
    await gone(sleep);
  });

  test('at any moment of a command’s start, nothing of it goes on', async () => {
    await using world = await createToolWorld();
    for (let round = 0; round < 5; round++) {
      const sleep = uniqueSleep();
      const { child, exited } = startHost(world.root, `echo started; ${sleep}; true`);
      // Killed between the shell's start and a few milliseconds later, each time a little further on.
      await vi.waitFor(
        async () => expect((await childrenOf(child.pid ?? 0, '')).length).toBeGreaterThan(0),
        { timeout: 5_000, interval: 1 },
      );
      await new Promise((resolve) => setTimeout(resolve, round));
      child.kill('SIGKILL');
      await exited;
      await gone(sleep);
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(processesOf(sleep)).toEqual([]);
    }
  });

  test('no supervisor is left when the worker has ended', async () => {
    await using world = await createToolWorld();
    const { child, exited } = startHost(
      world.root,
      'echo done; cat /proc/$PPID/task/*/children > children',
    );
    await exited;
    expect(child.exitCode).toBe(0);
    const children = (await readFile(join(world.root, 'children'), 'utf8')).trim().split(/\s+/);
    expect(children.length).toBeGreaterThan(1);
    await vi.waitFor(() => {
      expect(children.filter((pid) => isAlive(Number(pid)))).toEqual([]);
    });
  });
});

/** Children of a process whose command line holds `text`. */
async function childrenOf(pid: number, text: string): Promise<readonly number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = list
    .trim()
    .split(/\s+/)
    .filter((child) => child !== '');
  const lines = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
  return children.filter((_, index) => lines[index]?.includes(text)).map(Number);
}
