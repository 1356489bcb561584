import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ToolStopped } from '../../../src/activities/tools/stop-reason.js';
import { supervisor } from '../../../src/activities/tools/supervisor.js';
import { gone, processesOf, running, uniqueSleep } from './processes.js';
import { createToolWorld } from './tool-world.js';

describe('bash', () => {
  test('runs in the workspace folder and returns what was written, in order', async () => {
    await using world = await createToolWorld();
    const command = 'pwd; for i in 1 2 3; do echo out $i; echo err $i >&2; done';
    const answer = await world.run('bash', { command });
    const lines = [world.root, 'out 1', 'err 1', 'out 2', 'err 2', 'out 3', 'err 3'];
    expect(answer).toMatchObject({ text: lines.join('\n'), isError: false });
    expect(answer.details).toEqual({
      exitCode: 0,
      signal: null,
      bytes: lines.join('\n').length + 1,
    });
    expect(world.shown()).toBe(`${lines.join('\n')}\n`);
  });

  test('it is bash, stdin is empty, and the outputs can be opened by name', async () => {
    await using world = await createToolWorld();
    const command = '[[ a == a ]] && cat; echo one > /dev/stderr; echo two | tee /dev/stderr';
    expect((await world.run('bash', { command })).text).toBe('one\ntwo\ntwo');
  });

  test('output is shown while the command runs', async () => {
    await using world = await createToolWorld();
    const command = 'echo first; until [ -e go ]; do sleep 0.01; done; echo last';
    const answer = world.run('bash', { command });
    await vi.waitFor(() => expect(world.shown()).toBe('first\n'));
    await writeFile(join(world.root, 'go'), '');
    expect((await answer).text).toBe('first\nlast');
  });

  test('a command without output says so', async () => {
    await using world = await createToolWorld();
    expect((await world.run('bash', { command: 'true' })).text).toBe('(no output)');
  });

  test('an exit code other than 0 is an error that tells it', async () => {
    await using world = await createToolWorld();
    const answer = await world.run('bash', { command: 'echo why; exit 3' });
    expect(answer).toMatchObject({ text: 'why\n[Exit code 3]', isError: true });
    expect(answer.details['exitCode']).toBe(3);
  });

  test('a signal that ended the command is told', async () => {
    await using world = await createToolWorld();
    const answer = await world.run('bash', { command: 'kill -SEGV $$' });
    expect(answer).toMatchObject({ text: '[Killed by SIGSEGV]', isError: true });
  });

  test('a syntax error is the command’s own output', async () => {
    await using world = await createToolWorld();
    const answer = await world.run('bash', { command: 'if then' });
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(/syntax error/);
  });

  test('a command of 100 KB runs; a longer one is refused with advice', async () => {
    await using world = await createToolWorld();
    const long = await world.run('bash', { command: `: ${'x'.repeat(100_000)}; echo ran` });
    expect(long.text).toBe('ran');
    const longer = await world.run('bash', { command: `: ${'x'.repeat(200_000)}` });
    expect(longer).toMatchObject({ isError: true });
    expect(longer.text).toMatch(/longer than 120 KB/);
  });

  test('output that is not UTF-8, or split within a character, does no harm', async () => {
    await using world = await createToolWorld();
    const command = String.raw`printf '\xe2'; sleep 0.05; printf '\x82\xac \xff\x00 end'`;
    expect((await world.run('bash', { command })).text).toBe('€ \ufffd\ufffd end');
  });
});

describe('long output of bash', () => {
  test('keeps the end and says where the whole is', async () => {
    await using world = await createToolWorld();
    const answer = await world.run(
      'bash',
      { command: 'seq 1 20000; exit 1' },
      { maxResultBytes: 4000, toolCallId: 'call/../7' },
    );
    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(4000);
    const path = /are left out\. The full output is in (\S+)\]\n/.exec(answer.text)?.[1] ?? '';
    expect(path).toMatch(/^\.holdfast\/output\/call____7-[0-9a-f]{8}\.log$/);
    expect(answer.text).toMatch(/\]\n\d+\n[\s\S]*\n20000\n\[Exit code 1\]$/);
    const whole = await readFile(join(world.root, path), 'utf8');
    expect(whole).toBe(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(''));
    expect(answer.details['fullOutput']).toBe(path);
  });

  test('the folder of full outputs is ignored by git, and calls with the same id keep apart', async () => {
    await using world = await createToolWorld();
    execFileSync('git', ['init', '-q'], { cwd: world.root });
    const paths = [];
    for (const word of ['one', 'two']) {
      const command = `for i in $(seq 1000); do echo ${word}; done`;
      const answer = await world.run('bash', { command }, { maxResultBytes: 1000 });
      paths.push(String(answer.details['fullOutput']));
    }
    expect(paths).toEqual(['.holdfast/output/call-1.log', '.holdfast/output/call-1-2.log']);
    expect(await readFile(join(world.root, paths[0] ?? ''), 'utf8')).toMatch(/^one\n/);
    const status = execFileSync('git', ['status', '--porcelain'], { cwd: world.root });
    expect(String(status)).toBe('');
  });

  test('100 MB are read in bounded memory, and the file holds 50 MB of them', async () => {
    await using world = await createToolWorld();
    const before = process.memoryUsage.rss();
    let peak = 0;
    const command = 'head -c 100000000 /dev/zero | tr "\\0" "x"; echo; echo the end';
    const update = () => {
      peak = Math.max(peak, process.memoryUsage.rss() - before);
    };
    const answer = await world.run('bash', { command }, { update });
    expect(answer.text).toMatch(
      /^\[95\.\d MB of output before this are left out\. The first 50 MB/,
    );
    expect(answer.text).toMatch(/\nthe end$/);
    expect(answer.details['bytes']).toBe(100_000_009);
    const file = await stat(join(world.root, String(answer.details['fullOutput'])));
    expect(file.size).toBe(50 * 1024 * 1024);
    expect(peak).toBeLessThan(200 * 1024 * 1024);
  });

  test('a workspace where no file can be made still gives the end', async () => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, '.holdfast'), 'in the way');
    const answer = await world.run('bash', { command: 'seq 5000' }, { maxResultBytes: 1000 });
    expect(answer.isError).toBe(false);
    expect(answer.text).toMatch(/of output before this are left out\.\]\n[\s\S]*\n5000$/);
  });
});

describe('the environment of bash', () => {
  test('is an allow-list: the provider’s keys and other variables are not in it', async () => {
    await using world = await createToolWorld();
    vi.stubEnv('OPENAI_API_KEY', 'sk-provider-key-1234');
    vi.stubEnv('SOMETHING_ELSE', 'value');
    vi.stubEnv('LC_TIME', 'C');
    const { text } = await world.run('bash', { command: 'env' });
    vi.unstubAllEnvs();
    const names = text.split('\n').map((line) => line.split('=')[0]);
    expect(names).toEqual(expect.arrayContaining(['PATH', 'LC_TIME']));
    expect(names).not.toContain('OPENAI_API_KEY');
    expect(names).not.toContain('SOMETHING_ELSE');
  });

  test.each(['/proc/$PPID/environ', `/proc/${process.pid}/environ`])(
    'a registered secret does not come out of %s, neither in the result, shown, nor in the file',
    async (path) => {
      // The environment of a process is what it was started with.
      const name = ['HOME', 'PATH', 'PWD'].find((each) => (process.env[each] ?? '').length >= 6);
      const value = process.env[name ?? ''] ?? '';
      await using world = await createToolWorld();
      world.redactor.register('THE_KEY', value);
      const change = { maxResultBytes: 600, environment: { PATH: '/usr/bin:/bin' } };
      const command = `cat ${path}; seq 1000; cat ${path}`;
      const answer = await world.run('bash', { command }, change);
      expect(world.shown()).toContain(`${name}=[redacted THE_KEY]`);
      const file = await readFile(join(world.root, String(answer.details['fullOutput'])), 'utf8');
      expect(file).toContain('[redacted THE_KEY]');
      for (const text of [answer.text, world.shown(), file]) {
        expect(text).not.toContain(`=${value}`);
      }
    },
  );
});

describe('the end of bash', () => {
  test('a command that takes too long is killed and said to have timed out', async () => {
    await using world = await createToolWorld();
    const sleep = uniqueSleep();
    const answer = await world.run('bash', { command: `echo before; ${sleep}`, timeout: 0.3 });
    expect(answer.isError).toBe(true);
    expect(answer.text).toBe('before\n[Timed out after 0.3 s. Its processes were killed]');
    await gone(sleep);
  });

  test('a call may not ask for more time than the config allows', async () => {
    await using world = await createToolWorld();
    const command = uniqueSleep();
    const answer = await world.run('bash', { command, timeout: 9999 }, { maxTimeoutMs: 300 });
    expect(answer.text).toBe('[Timed out after 0.3 s. Its processes were killed]');
  });

  const trees = {
    'a child': (sleep: string) => `${sleep}; true`,
    'children in the background': (sleep: string) => `${sleep} & ${sleep} & wait`,
    'a session of its own': (sleep: string) => `setsid ${sleep} & wait`,
    'a daemon that forked twice': (sleep: string) =>
      `(setsid sh -c '(${sleep} &) ' >/dev/null 2>&1 &); sleep 0.2; ${sleep}`,
    nohup: (sleep: string) => `nohup ${sleep} >/dev/null 2>&1 & wait`,
    'a trap for SIGTERM': (sleep: string) => `trap '' TERM; ${sleep}; ${sleep}`,
    'a stopped process': (sleep: string) => `${sleep} & sleep 0.1; kill -STOP $!; wait`,
    'a cleared environment': (sleep: string) => `env -i /bin/sh -c '${sleep}; true'`,
    'an orphan in the same session': (sleep: string) => `(env -i ${sleep} &); sleep 0.1; ${sleep}`,
    'fifty sleepers': (sleep: string) => `for i in $(seq 50); do setsid ${sleep} & done; wait`,
  };

  test.each(Object.entries(trees))('an abort kills the whole tree: %s', async (_, toCommand) => {
    await using world = await createToolWorld();
    const sleep = uniqueSleep();
    const abort = new AbortController();
    const command = `echo partial; ${toCommand(sleep)}`;
    const answer = world.run('bash', { command }, { signal: abort.signal });
    await running(sleep);
    abort.abort(new ToolStopped('abort', 'The run was aborted.'));
    expect(await answer).toMatchObject({
      text: 'partial\n[Aborted. Its processes were killed]',
      isError: true,
    });
    expect(processesOf(sleep)).toEqual([]);
  });

  test('a command that forks without end does not outrun its end', async () => {
    await using world = await createToolWorld();
    const sleep = uniqueSleep();
    const abort = new AbortController();
    const command = `trap '' TERM; while true; do setsid ${sleep} & sleep 0.005; done`;
    const answer = world.run('bash', { command }, { signal: abort.signal });
    await running(sleep);
    abort.abort();
    await answer;
    expect(processesOf(sleep)).toEqual([]);
  });

  test('SIGTERM comes first: a command can clean up', async () => {
    await using world = await createToolWorld();
    const sleep = uniqueSleep();
    const abort = new AbortController();
    const command = `trap 'echo cleaned; exit' TERM; ${sleep} & wait`;
    const answer = world.run('bash', { command }, { signal: abort.signal });
    await running(sleep);
    abort.abort();
    expect((await answer).text).toMatch(/^cleaned\n/);
  });

  test('a signal that has aborted before kills the command before it can do anything', async () => {
    await using world = await createToolWorld();
    const command = 'sleep 0.2; touch started';
    const answer = await world.run('bash', { command }, { signal: AbortSignal.abort() });
    expect(answer.isError).toBe(true);
    expect(existsSync(join(world.root, 'started'))).toBe(false);
  });

  test('a process in the background does not hold up the result, and lives on', async () => {
    await using world = await createToolWorld();
    const sleep = uniqueSleep();
    const command = `echo started; (echo noise; ${sleep}; true) & echo $!`;
    const answer = await world.run('bash', { command });
    expect(answer.isError).toBe(false);
    expect(answer.text).toMatch(/started\n[\s\S]*processes it started in the background still run/);
    expect(processesOf(sleep)).not.toEqual([]);
    execFileSync('pkill', ['-f', `^${sleep}$`]);
    await gone(sleep);
  });

  test('a chatty process in the background is not killed by a broken pipe', async () => {
    await using world = await createToolWorld();
    const script = 'for i in $(seq 350); do echo chatter; sleep 0.01; done; touch survived';
    await world.run('bash', { command: `(${script}) & echo started` });
    await vi.waitFor(() => expect(existsSync(join(world.root, 'survived'))).toBe(true), {
      timeout: 15_000,
    });
  });

  test('the supervisor is replaced when it dies', async () => {
    await using world = await createToolWorld();
    await world.run('bash', { command: 'true' });
    const first = supervisor.pid ?? 0;
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(supervisor.pid).toBeUndefined());
    await world.run('bash', { command: 'true' });
    expect(supervisor.pid).not.toBe(first);
  });
});
