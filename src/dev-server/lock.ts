// A lock between processes, so that two starts at the same time do not run two servers on one database.
//
// A file names its owner; whoever finds the owner dead, or the file older than any start takes, removes it.

import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './server-process.js';

const staleAfterMs = 120_000;
const pollMs = 50;

/** Runs `action` while no other process, and no other call in this one, holds the lock. */
export async function withLock<T>(
  path: string,
  action: () => Promise<T>,
  onWait: () => void = () => {},
): Promise<T> {
  const own = `${process.pid} ${randomUUID()}`;
  let told = false;
  while (!(await acquire(path, own))) {
    if (await isStale(path)) await remove(path);
    else {
      if (!told) onWait();
      told = true;
      await sleep(pollMs);
    }
  }
  try {
    return await action();
  } finally {
    if ((await contentOf(path)) === own) await rm(path, { force: true });
  }
}

/** A link appears with its whole content, which a file that is created and then written does not. */
async function acquire(path: string, own: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, own);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > staleAfterMs) return true;
    const content = await contentOf(path);
    return content !== undefined && !isAlive(Number.parseInt(content, 10));
  } catch {
    return false;
  }
}

/**
 * Removes a stale lock by renaming it first: of several processes that found it stale one succeeds. If a
 * living owner took it in between, the lock is put back.
 */
async function remove(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if (!(await isStale(aside))) await link(aside, path);
  } catch {
    // Somebody else was faster.
  } finally {
    await rm(aside, { force: true });
  }
}

async function contentOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
