// Output that is too long for a result: kept in a file of the workspace, `.holdfast/output/<call>.log`,
// which git ignores. The files are never removed by Holdfast.

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { inFolder, realRoot } from './workspace-files.js';
import type { Folder } from './workspace-files.js';

/** Bytes that one file may have; what comes after is dropped. */
const maxOutputFileBytes = 50 * 1024 * 1024;

const folders = ['.holdfast', 'output'] as const;

export class OutputFile {
  /** From the workspace's root. */
  readonly path: string;
  readonly #file: FileHandle;
  #room = maxOutputFileBytes;
  #complete = true;

  constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** False once output was dropped because the file was full. */
  get complete(): boolean {
    return this.#complete;
  }

  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const fitting = bytes.subarray(0, this.#room);
    if (fitting.length < bytes.length) this.#complete = false;
    this.#room -= fitting.length;
    if (fitting.length > 0) await this.#file.writeFile(fitting);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/**
 * Opens a file of its own for a call. Calls of other sessions may have the same id, so a name that is
 * taken gets a number. @throws WorkspaceError when the workspace cannot be written to.
 */
export async function createOutputFile(
  workspaceRoot: string,
  toolCallId: string,
): Promise<OutputFile> {
  const root = await realRoot(workspaceRoot);
  const shown = folders.join('/');
  const ignore = { root, folders: [folders[0]], name: '.gitignore', exists: false, shown };
  await inFolder(ignore, true, async (folder) => {
    const file = await open(folder.child(ignore.name), 'wx').catch(() => undefined);
    if (file === undefined) return;
    await file.writeFile('*\n').finally(() => file.close());
  });
  const place = { root, folders, name: '', exists: false, shown };
  return inFolder(place, true, (folder) => openNew(folder, fileName(toolCallId)));
}

async function openNew(folder: Folder, name: string): Promise<OutputFile> {
  for (let number = 1; ; number++) {
    const full = number === 1 ? `${name}.log` : `${name}-${number}.log`;
    try {
      return new OutputFile(join(...folders, full), await open(folder.child(full), 'wx'));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      if (number === 1_000) throw error;
    }
  }
}

/** Ids are the provider's: what a file name should not hold is replaced, and a digest keeps it apart. */
function fileName(toolCallId: string): string {
  const safe = toolCallId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  if (safe === toolCallId && safe !== '') return safe;
  return `${safe}-${createHash('sha256').update(toolCallId).digest('hex').slice(0, 8)}`;
}

/**
 * Keeps a text whole and answers where. Undefined when the workspace cannot be written to, which is no
 * reason to fail a call.
 */
export async function keepFullText(
  text: string,
  workspaceRoot: string,
  toolCallId: string,
): Promise<string | undefined> {
  try {
    const file = await createOutputFile(workspaceRoot, toolCallId);
    await file.append(text).finally(() => file.close());
    return file.path;
  } catch {
    return undefined;
  }
}
