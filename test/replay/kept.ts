// Kept histories: what a run left on the server, and the events that its queries answered then.

import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { ReportedEvent } from '../../src/protocol/events.js';

type History = ReturnType<typeof historyFromJSON>;

export interface KeptHistory {
  readonly name: string;
  readonly history: History;
  /** Without the contents that the query adds: the log itself. */
  readonly events: readonly LogEntry[];
}

export type LogEntry = Omit<ReportedEvent, 'content' | 'args' | 'result' | 'omitted'>;

export const historiesFolder = new URL('./histories/', import.meta.url).pathname;

export function toLogEntry(event: ReportedEvent): LogEntry {
  const { content: _, args: __, result: ___, omitted: ____, ...entry } = event;
  return entry;
}

export async function keptNames(): Promise<readonly string[]> {
  const files = await readdir(historiesFolder);
  return files.flatMap((file) => (file.endsWith('.json.gz') ? [file.slice(0, -8)] : [])).toSorted();
}

export async function readKept(name: string): Promise<KeptHistory> {
  const text = gunzipSync(await readFile(join(historiesFolder, `${name}.json.gz`))).toString();
  const { history, events } = JSON.parse(text) as { history: object; events: LogEntry[] };
  return { name, history: historyFromJSON(history), events };
}

/** What a history tells of the machine it was recorded on; no replay reads it. */
const machineFields: { readonly [field: string]: string } = {
  identity: 'worker',
  lastWorkerIdentity: 'worker',
  stackTrace: '',
};

/** Keeps a history. One that is kept already is never written again. */
export async function keep({ name, history, events }: KeptHistory): Promise<void> {
  const plain = JSON.parse(historyToJSON(history), (field, value: unknown) =>
    typeof value === 'string' ? (machineFields[field] ?? value) : value,
  ) as object;
  const text = JSON.stringify({ history: plain, events });
  await writeFile(join(historiesFolder, `${name}.json.gz`), gzipSync(text, { level: 9 }), {
    flag: 'wx',
  });
}
