// What is remembered of the local server between starts: where it listens, which process it is and who
// uses it. The file survives a killed `holdfast dev`, so that the next one finds the server.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const State = z.object({
  port: z.int(),
  uiPort: z.int(),
  /** Absent: the server was stopped. */
  pid: z.int().optional(),
  /** Processes that started or adopted the server and have not let go of it. */
  users: z.array(z.int()),
  /** The executable it was started with. */
  temporalPath: z.string().optional(),
});

export type DevServerState = Readonly<z.output<typeof State>>;

/** Undefined when there is no state, or none that can be read. */
export function readState(dataDirectory: string): DevServerState | undefined {
  try {
    return State.parse(JSON.parse(readFileSync(stateFile(dataDirectory), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Synchronous, so that no moment lies between a server's start and its being known. */
export function writeState(dataDirectory: string, state: DevServerState): void {
  const unfinished = `${stateFile(dataDirectory)}.tmp`;
  writeFileSync(unfinished, `${JSON.stringify(state, undefined, 2)}\n`);
  renameSync(unfinished, stateFile(dataDirectory));
}

function stateFile(dataDirectory: string): string {
  return join(dataDirectory, 'server.json');
}
