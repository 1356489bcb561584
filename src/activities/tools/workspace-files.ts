// Files of a workspace, by real paths: whatever a path looks like, what is opened lies inside the root.
//
// A path is resolved once, links included, and must then be inside the root. After that the folders are
// opened one by one from the root, never through a link, each relative to the one before: a link that is
// put in between later makes the opening fail instead of leading out. Relative opening goes through
// /proc/self/fd; where there is none (macOS) the opened folder's path and identity are compared
// afterwards, which leaves a window for writes in a folder that is swapped at that very moment.
//
// This bounds the file tools. It does not bound bash, and a hard link is the file itself.

import { constants, existsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

const relativeToHandles = process.platform === 'linux' && existsSync('/proc/self/fd');

/** A refusal or a failure, in one sentence for the model. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
}

/** A place inside the root, all links resolved; its last folders may not exist yet. */
export interface Place {
  readonly root: string;
  /** From the root to the folder that holds the file. */
  readonly folders: readonly string[];
  readonly name: string;
  readonly exists: boolean;
  /** As the model wrote it. */
  readonly shown: string;
}

export async function realRoot(root: string): Promise<string> {
  const real = await realpath(root).catch(() => undefined);
  if (real === undefined) throw new WorkspaceError(`The workspace folder ${root} does not exist.`);
  return real;
}

/** @throws WorkspaceError when the path leads out of the root or nowhere. */
export async function locate(workspaceRoot: string, path: string): Promise<Place> {
  if (path === '' || path.includes('\0')) throw new WorkspaceError('The path is empty or invalid.');
  const root = await realRoot(workspaceRoot);
  const target = resolve(root, path);
  const missing: string[] = [];
  for (let existing = target; ; existing = dirname(existing)) {
    const real = await realPathOf(existing, path);
    if (real === undefined) {
      missing.unshift(basename(existing));
      continue;
    }
    const inside = relative(root, real);
    if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(root, inside) !== real) {
      throw new WorkspaceError(`${path} is outside the workspace.`);
    }
    const parts = [...inside.split(sep), ...missing].filter((part) => part !== '');
    const name = parts.pop();
    if (name === undefined)
      throw new WorkspaceError(`${path} is the workspace folder itself, not a file.`);
    return { root, folders: parts, name, exists: missing.length === 0, shown: path };
  }
}

/** Undefined when there is nothing of this name. */
async function realPathOf(path: string, shown: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw toWorkspaceError(error, shown);
    const link = await lstat(path).catch(() => undefined);
    if (link === undefined) return undefined;
    throw new WorkspaceError(`${shown} leads through a symbolic link whose target does not exist.`);
  }
}

/** An open folder of the workspace. */
export interface Folder {
  readonly handle: FileHandle;
  /** A path of something in this folder. */
  child(name: string): string;
}

/** Opens the folder that holds `place`, for the time of `use`. With `create`, missing folders are made. */
export async function inFolder<T>(
  place: Place,
  create: boolean,
  use: (folder: Folder) => Promise<T>,
): Promise<T> {
  let folder = await openFolder(place.root, undefined, place);
  try {
    let path = place.root;
    for (const name of place.folders) {
      path = join(path, name);
      const child = folder.child(name);
      if (create) await mkdir(child).catch(ignoreExisting(place.shown));
      const next = await openFolder(path, child, place);
      await folder.handle.close();
      folder = next;
    }
    return await use(folder);
  } finally {
    await folder.handle.close();
  }
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

async function openFolder(path: string, child: string | undefined, place: Place): Promise<Folder> {
  try {
    const handle = await open(child ?? path, folderFlags);
    if (!relativeToHandles) await assertUnmoved(handle, path, place);
    const base = relativeToHandles ? `/proc/self/fd/${handle.fd}` : path;
    return { handle, child: (name) => join(base, name) };
  } catch (error) {
    throw toWorkspaceError(error, place.shown);
  }
}

async function assertUnmoved(handle: FileHandle, path: string, place: Place): Promise<void> {
  const [opened, named, real] = await Promise.all([handle.stat(), stat(path), realpath(path)]);
  if (real === path && opened.dev === named.dev && opened.ino === named.ino) return;
  await handle.close();
  throw new WorkspaceError(`${place.shown} was changed while it was being opened.`);
}

/** Opens the regular file at `place` for reading, for the time of `use`. Never blocks on a pipe or device. */
export async function withFile<T>(
  workspaceRoot: string,
  path: string,
  use: (file: FileHandle, stats: Stats) => Promise<T>,
): Promise<T> {
  const place = await locate(workspaceRoot, path);
  if (!place.exists) throw new WorkspaceError(`${path} does not exist.`);
  return inFolder(place, false, async (folder) => {
    const target = folder.child(place.name);
    await statRegularFile(target, path);
    const file = await open(
      target,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    ).catch((error: unknown) => {
      throw toWorkspaceError(error, path);
    });
    try {
      const stats = await file.stat();
      assertRegularFile(stats, path);
      return await use(file, stats);
    } finally {
      await file.close();
    }
  });
}

/** @throws WorkspaceError when there is something of this path that is no regular file. */
export async function statRegularFile(path: string, shown: string): Promise<Stats | undefined> {
  const stats = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw toWorkspaceError(error, shown);
  });
  if (stats !== undefined) assertRegularFile(stats, shown);
  return stats;
}

function assertRegularFile(stats: Stats, shown: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new WorkspaceError(`${shown} is a directory, not a file.`);
  if (stats.isSymbolicLink()) {
    throw new WorkspaceError(`${shown} was changed while it was being opened.`);
  }
  const kind = stats.isFIFO() ? 'a named pipe' : stats.isSocket() ? 'a socket' : 'a device';
  throw new WorkspaceError(`${shown} is ${kind}, not a regular file.`);
}

function ignoreExisting(shown: string) {
  return (error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw toWorkspaceError(error, shown);
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The sentence for an error of the file system; paths other than the model's own stay out of it. */
export function toWorkspaceError(error: unknown, shown: string): Error {
  const code = codeOf(error);
  if (error instanceof WorkspaceError || code === undefined) return error as Error;
  const sentences: { readonly [code: string]: string } = {
    ENOENT: `${shown} does not exist.`,
    ENOTDIR: `${shown} leads through something that is not a directory, or that was changed meanwhile.`,
    ELOOP: `${shown} leads through symbolic links that form a circle, or that were changed meanwhile.`,
    EACCES: `The worker has no permission for ${shown}.`,
    EPERM: `The worker has no permission for ${shown}.`,
    EROFS: `${shown} is on a read-only file system.`,
    ENOSPC: `There is no space left on the disk for ${shown}.`,
    EDQUOT: `There is no space left on the disk for ${shown}.`,
    ENAMETOOLONG: `The path ${shown.slice(0, 100)}… is too long.`,
    EISDIR: `${shown} is a directory, not a file.`,
  };
  return new WorkspaceError(sentences[code] ?? `${shown} cannot be used: ${code}.`);
}
