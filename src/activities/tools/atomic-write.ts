// Replaces files as a whole: a reader sees the old content or the new, also after a crash. A crash in
// between leaves a file `.holdfast-….tmp` beside it.

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import {
  inFolder,
  locate,
  statRegularFile,
  toWorkspaceError,
  WorkspaceError,
} from './workspace-files.js';
import type { Folder } from './workspace-files.js';

/**
 * Writes `bytes` to a file of the workspace, making folders that are missing. The new file keeps the mode
 * of the old; the content is on the disk before it takes the old one's place. With `expected`, refuses to
 * replace a file that is not the one those stats are of, or that was written to since.
 */
export async function writeFileAtomically(
  workspaceRoot: string,
  path: string,
  bytes: Uint8Array,
  expected?: Stats,
): Promise<{ readonly created: boolean }> {
  const place = await locate(workspaceRoot, path);
  return inFolder(place, true, async (folder) => {
    const target = folder.child(place.name);
    const old = await statRegularFile(target, path);
    if (old !== undefined) await assertWritable(target, path);
    const temporary = folder.child(`.holdfast-${randomUUID()}.tmp`);
    try {
      await writeTemporary(temporary, bytes, old);
      if (expected !== undefined) assertSame(await statRegularFile(target, path), expected, path);
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw toWorkspaceError(error, path);
    }
    await syncFolder(folder);
    return { created: old === undefined };
  });
}

/** A file that may not be written to may not be replaced either. */
async function assertWritable(target: string, path: string): Promise<void> {
  await access(target, constants.W_OK).catch((error: unknown) => {
    throw toWorkspaceError(error, path);
  });
}

async function writeTemporary(path: string, bytes: Uint8Array, old: Stats | undefined) {
  const file = await open(path, 'wx', old === undefined ? 0o666 : 0o600);
  try {
    await file.writeFile(bytes);
    if (old !== undefined) {
      // Only root may give files away; for others the new file is their own, as after any rewrite.
      await file.chown(old.uid, old.gid).catch(() => undefined);
      await file.chmod(old.mode & 0o7777);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

function assertSame(now: Stats | undefined, expected: Stats, path: string): void {
  if (now?.ino === expected.ino && now.size === expected.size && now.mtimeMs === expected.mtimeMs) {
    return;
  }
  throw new WorkspaceError(`${path} was changed by something else meanwhile; nothing was written.`);
}

/** Makes the new name durable; some file systems cannot sync folders. */
async function syncFolder(folder: Folder): Promise<void> {
  await folder.handle.sync().catch(() => undefined);
}
