// A file that tells whether a worker lives, for health checks that cannot ask it: a container's, say.

import { rmSync, writeFileSync } from 'node:fs';

/** A file that was not touched for several of these belongs to a worker that does not live. */
const touchedEveryMs = 5_000;

/**
 * Touches the file now and every five seconds, until the returned function is called, which removes it.
 *
 * It is about this process alone, not about the server: a worker that waits for its server lives, and to start
 * it again would end what its tools are doing.
 * @throws when the file cannot be written
 */
export function keepHealthFile(path: string): () => void {
  const touch = () => writeFileSync(path, `${process.pid}\n`);
  try {
    touch();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The health file cannot be written: ${reason}; choose another --health-file.`);
  }
  // One that cannot be written any more becomes stale, which is what its reader has to see.
  const timer = setInterval(() => {
    try {
      touch();
    } catch {}
  }, touchedEveryMs);
  return () => {
    clearInterval(timer);
    rmSync(path, { force: true });
  };
}
