import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createToolWorld } from './tool-world.js';

describe('the workspace root', () => {
  test.each([
    ['..', '../outside/secret.txt'],
    ['.. behind a folder', 'folder/../../outside/secret.txt'],
    ['an absolute path', '/etc/passwd'],
    ['a link to a file outside', 'link-file'],
    ['a link to a folder outside', 'link-folder/secret.txt'],
    ['a link to a link outside', 'link-link'],
  ])('read, write and edit refuse %s', async (_, path) => {
    await using world = await createToolWorld();
    await writeFile(join(world.outside, 'secret.txt'), 'outside');
    await mkdir(join(world.root, 'folder'));
    await symlink(join(world.outside, 'secret.txt'), join(world.root, 'link-file'));
    await symlink(world.outside, join(world.root, 'link-folder'));
    await symlink('link-file', join(world.root, 'link-link'));

    const answers = [
      await world.run('read', { path }),
      await world.run('write', { path, content: 'changed' }),
      await world.run('edit', { path, oldText: 'outside', newText: 'changed' }),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ isError: true, text: `${path} is outside the workspace.` });
    }
    expect(await readFile(join(world.outside, 'secret.txt'), 'utf8')).toBe('outside');
  });

  test.each([['dangling'], ['dangling-folder/file.txt']])(
    'a link whose target does not exist is refused and makes no file outside: %s',
    async (path) => {
      await using world = await createToolWorld();
      await symlink(join(world.outside, 'new.txt'), join(world.root, 'dangling'));
      await symlink(join(world.outside, 'new-folder'), join(world.root, 'dangling-folder'));
      const answer = await world.run('write', { path, content: 'x' });
      expect(answer.isError).toBe(true);
      expect(answer.text).toMatch(/symbolic link whose target does not exist/);
      expect(await readdir(world.outside)).toEqual([]);
    },
  );

  test('a folder beside the root whose name begins like the root is outside', async () => {
    await using world = await createToolWorld();
    await mkdir(`${world.root}-2`);
    const answer = await world.run('write', { path: `${world.root}-2/x`, content: 'x' });
    expect(answer.text).toMatch(/outside the workspace/);
  });

  test('links and absolute paths that stay inside are followed, and the link stays a link', async () => {
    await using world = await createToolWorld();
    await mkdir(join(world.root, 'real'));
    await writeFile(join(world.root, 'real/a.txt'), 'old');
    await symlink('real/a.txt', join(world.root, 'link'));
    await world.run('write', { path: 'link', content: 'new' });
    expect(await readlink(join(world.root, 'link'))).toBe('real/a.txt');
    const answer = await world.run('read', { path: join(world.root, 'real/a.txt') });
    expect(answer.text).toBe('new');
  });

  test('a root that is itself reached through a link is no obstacle', async () => {
    await using world = await createToolWorld();
    const link = join(world.outside, 'root-link');
    await symlink(world.root, link);
    const workspace = { name: 'default', root: link };
    await world.run('write', { path: 'a/b.txt', content: 'x' }, { workspace });
    const answer = await world.run('read', { path: join(link, 'a/b.txt') }, { workspace });
    expect(answer).toMatchObject({ text: 'x', isError: false });
  });

  test('a folder that is swapped for a link all the time never leads a write or a read outside', async () => {
    await using world = await createToolWorld();
    const folder = join(world.root, 'folder');
    await mkdir(folder);
    await writeFile(join(folder, 'f.txt'), 'inside');
    await writeFile(join(world.outside, 'f.txt'), 'outside');
    await symlink(world.outside, join(world.root, 'trap'));

    // A write may make the folder anew in the moment when it is missing: then that goes first.
    const move = async (from: string, to: string): Promise<void> => {
      await rename(from, to).catch(async () => {
        await rm(to, { recursive: true, force: true });
        await move(from, to);
      });
    };
    let swapping = true;
    const swap = (async () => {
      while (swapping) {
        await move(folder, join(world.root, 'away'));
        await move(join(world.root, 'trap'), folder);
        await move(folder, join(world.root, 'trap'));
        await move(join(world.root, 'away'), folder);
      }
    })();
    const texts = new Set<string>();
    for (let round = 0; round < 400; round++) {
      const [read] = await Promise.all([
        world.run('read', { path: 'folder/f.txt' }),
        world.run('write', { path: 'folder/f.txt', content: 'inside' }),
      ]);
      texts.add(read.text);
    }
    swapping = false;
    await swap;
    expect((await world.run('read', { path: 'folder/f.txt' })).text).toBe('inside');
    expect(texts).not.toContain('outside');
    expect(await readFile(join(world.outside, 'f.txt'), 'utf8')).toBe('outside');
    expect(await readdir(world.outside)).toEqual(['f.txt']);
  });

  test('named pipes, sockets of folders and devices are refused without blocking', async () => {
    await using world = await createToolWorld();
    execFileSync('mkfifo', [join(world.root, 'pipe')]);
    await mkdir(join(world.root, 'folder'));
    for (const name of ['read', 'write', 'edit']) {
      const args = { content: 'x', oldText: 'a', newText: 'b' };
      const pipe = await world.run(name, { ...args, path: 'pipe' });
      expect(pipe.text).toBe('pipe is a named pipe, not a regular file.');
      const folder = await world.run(name, { ...args, path: 'folder' });
      expect(folder.text).toBe('folder is a directory, not a file.');
    }
  });

  test.each([
    ['missing.txt', 'missing.txt does not exist.'],
    ['file.txt/below', /not a directory/],
    ['circle', /form a circle/],
    ['', 'The path is empty or invalid.'],
    ['a\0b', 'The path is empty or invalid.'],
    ['.', /is the workspace folder itself/],
  ])('a path that cannot be read is told in one sentence: %j', async (path, text) => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'file.txt'), 'x');
    await symlink('circle', join(world.root, 'circle'));
    const answer = await world.run('read', { path });
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(text);
    expect(answer.text).not.toContain(world.root);
  });

  test('a path that is too long is told without being repeated whole', async () => {
    await using world = await createToolWorld();
    const answer = await world.run('read', { path: 'x'.repeat(5000) });
    expect(answer.text).toMatch(/^The path x{100}… is too long\.$/);
  });

  test('a workspace folder that does not exist is named', async () => {
    await using world = await createToolWorld();
    const workspace = { name: 'default', root: '/nowhere/at/all' };
    for (const name of ['read', 'bash']) {
      const answer = await world.run(name, { path: 'a', command: 'true' }, { workspace });
      expect(answer.text).toBe('The workspace folder /nowhere/at/all does not exist.');
    }
  });
});

describe('write', () => {
  test('makes missing folders and says what it did', async () => {
    await using world = await createToolWorld();
    const created = await world.run('write', { path: 'a/b/c.txt', content: 'häh' });
    expect(created).toMatchObject({ text: 'Created a/b/c.txt (4 bytes).', isError: false });
    const replaced = await world.run('write', { path: 'a/b/c.txt', content: '' });
    expect(replaced.text).toBe('Replaced a/b/c.txt (0 bytes).');
    expect(await readFile(join(world.root, 'a/b/c.txt'), 'utf8')).toBe('');
  });

  test('keeps the mode of the file it replaces', async () => {
    await using world = await createToolWorld();
    const path = join(world.root, 'run.sh');
    await writeFile(path, 'old');
    await chmod(path, 0o750);
    await world.run('write', { path: 'run.sh', content: 'new' });
    expect((await stat(path)).mode & 0o7777).toBe(0o750);
  });

  test('a reader sees the old content or the new, never a part, and nothing is left behind', async () => {
    await using world = await createToolWorld();
    const [a, b] = ['a'.repeat(2_000_000), 'b'.repeat(2_000_000)];
    const path = join(world.root, 'file.txt');
    await writeFile(path, a);
    let writing = true;
    const broken: string[] = [];
    const reader = (async () => {
      while (writing) {
        const text = await readFile(path, 'utf8');
        if (text !== a && text !== b) broken.push(`${text.length} ${text.slice(0, 5)}`);
      }
    })();
    for (let round = 0; round < 10; round++) {
      await world.run('write', { path: 'file.txt', content: round % 2 === 0 ? b : a });
    }
    writing = false;
    await reader;
    expect(broken).toEqual([]);
    expect(await readdir(world.root)).toEqual(['file.txt']);
  });

  test('a write that fails leaves the old file and no temporary one', async () => {
    await using world = await createToolWorld();
    await mkdir(join(world.root, 'folder'));
    const answer = await world.run('write', { path: 'folder', content: 'x' });
    expect(answer.isError).toBe(true);
    expect(await readdir(world.root)).toEqual(['folder']);
  });
});

describe('read', () => {
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

  test('gives a short file as it is', async () => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'a.txt'), 'one\n\ttwo\n');
    expect((await world.run('read', { path: 'a.txt' })).text).toBe('one\n\ttwo\n');
  });

  test('gives 2,000 lines and says how to go on', async () => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'a.txt'), numbered(2500));
    const first = await world.run('read', { path: 'a.txt' });
    expect(first.text).toMatch(/\nline 2000\n\n\[Lines 1-2000 of .* go on with offset 2001\.\]$/);
    const rest = await world.run('read', { path: 'a.txt', offset: 2001 });
    expect(rest.text).toBe(numbered(2500).slice(numbered(2000).length));
  });

  test('offset and limit choose lines', async () => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'a.txt'), numbered(100));
    const answer = await world.run('read', { path: 'a.txt', offset: 7, limit: 2 });
    expect(answer.text).toMatch(/^line 7\nline 8\n\n\[Lines 7-8 .* offset 9\.\]$/);
    const last = await world.run('read', { path: 'a.txt', offset: 99, limit: 2 });
    expect(last.text).toBe('line 99\nline 100\n');
  });

  test('an offset behind the end is an error that tells the length', async () => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'a.txt'), numbered(3));
    const answer = await world.run('read', { path: 'a.txt', offset: 9 });
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toMatch(/has only 3 lines/);
  });

  test('pages of whole lines within the result’s bound, together the file', async () => {
    await using world = await createToolWorld();
    const text = numbered(3000);
    await writeFile(join(world.root, 'a.txt'), text);
    let offset = 1;
    let joined = '';
    for (;;) {
      const page = await world.run('read', { path: 'a.txt', offset }, { maxResultBytes: 4000 });
      expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(4000);
      const [, content, next] =
        /^([\s\S]*?)(?:\n\[Lines .* offset (\d+)\.\])?$/.exec(page.text) ?? [];
      joined += content;
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(joined).toBe(text);
  });

  test('a line longer than a result is cut at a character, and the next line is reachable', async () => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'a.txt'), `${'é'.repeat(50_000)}\nnext\n`);
    const answer = await world.run('read', { path: 'a.txt' }, { maxResultBytes: 4001 });
    expect(answer.text).toMatch(/^é+\n\[Line 1 is too long/);
    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(4001);
    expect((await world.run('read', { path: 'a.txt', offset: 2 })).text).toBe('next\n');
  });

  test('a file of 2 GB is read without loading it', async () => {
    await using world = await createToolWorld();
    const path = join(world.root, 'huge.txt');
    await writeFile(path, numbered(5000));
    execFileSync('truncate', ['-s', '2G', path]);
    const before = process.memoryUsage.rss();
    const answer = await world.run('read', { path: 'huge.txt', offset: 4000, limit: 10 });
    expect(answer.text).toMatch(/^line 4000\n/);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('an empty file is said to be empty', async () => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'a.txt'), '');
    expect((await world.run('read', { path: 'a.txt' })).text).toBe('[a.txt is empty.]');
  });

  test.each([
    ['gzip archive', Buffer.from('1f8b0800000000000003abcd00ff', 'hex')],
    ['unknown format', Buffer.from([1, 2, 3, 0, 255, 254])],
    ['PDF document', Buffer.from('%PDF-1.7\nsomething')],
    ['text in UTF-16', Buffer.from('\ufeffhello', 'utf16le')],
  ])('a binary file is described, not dumped: %s', async (name, bytes) => {
    await using world = await createToolWorld();
    await writeFile(join(world.root, 'a.bin'), bytes);
    const { text } = await world.run('read', { path: 'a.bin' });
    expect(text).toBe(
      `[a.bin is a binary file (${name}, ${bytes.length} bytes); its content is not shown.]`,
    );
  });

  test.each([
    ['image/png', '89504e470d0a1a0a0000000d49484452'],
    ['image/jpeg', 'ffd8ffe000104a464946'],
    ['image/gif', '474946383961010001'],
    ['image/webp', '524946462400000057454250'],
  ])(
    'a file that is %s by its bytes comes as an image, whatever its name',
    async (mimeType, hex) => {
      await using world = await createToolWorld();
      const bytes = Buffer.from(hex, 'hex');
      await writeFile(join(world.root, 'picture.txt'), bytes);
      const answer = await world.run('read', { path: 'picture.txt' });
      expect(answer.images).toEqual([{ type: 'image', mimeType, data: bytes.toString('base64') }]);
    },
  );

  test('an image above the limit becomes a text that says so', async () => {
    await using world = await createToolWorld();
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(4000)]);
    await writeFile(join(world.root, 'a.png'), png);
    const answer = await world.run('read', { path: 'a.png' }, { maxImageBytes: 4000 });
    expect(answer.images).toEqual([]);
    expect(answer.text).toMatch(/too large to be shown/);
  });

  test('ill-typed arguments, which a hook may have put in, are errors', async () => {
    await using world = await createToolWorld();
    expect((await world.run('read', { path: 7 })).text).toMatch(/path must be a string/);
    expect((await world.run('read', { path: 'a', offset: 0 })).text).toMatch(/offset must be/);
    await rm(world.root, { recursive: true });
  });
});
