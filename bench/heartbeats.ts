// Heartbeats: what a hundred model calls that stream at once cost the server and their worker. The bare loop
// streams the same answers and sends none, so neither its aborts nor its lost workers are noticed in time.

import { setTimeout as sleep } from 'node:timers/promises';
import { processorMs, residentMegabytes, startModelProcess } from './processes.js';
import type { Measure, Row } from './report.js';
import { eachSide, sideNames, sides, startSideBySide } from './side-by-side.js';
import type { Side } from './side-by-side.js';
import { pieceEveryMs, turnPrompt } from './turn-script.js';

const calls = 100;
const windowMs = 5_000;
/** For what begins and ends with the calls. */
const marginMs = 4_000;

/** What was seen within one window. */
interface Window {
  readonly writesPerSecond: number;
  /** Hundredths of one core. */
  readonly server: number;
  readonly worker: number;
  readonly megabytes: number;
}

export const heartbeats: Measure = {
  name: 'heartbeats',
  what: `heartbeat writes per second with ${calls} streaming model calls at once`,
  async run({ address, server, folder, samples = 5, log }) {
    await using model = await startModelProcess();
    const { baseURL } = model;
    await using both = await startSideBySide({ address, baseURL, folder, name: 'heartbeats' });

    const look = async (pid: number) => ({
      at: performance.now(),
      writes: await server.requests('RecordActivityTaskHeartbeat'),
      server: await processorMs(server.pid),
      worker: await processorMs(pid),
    });
    const watch = async (side: Side): Promise<readonly Window[]> => {
      const { pid } = both.workers[side];
      const pieces = Math.ceil((samples * windowMs + 2 * marginMs) / pieceEveryMs);
      const before = await model.requests();
      const sessions = Array.from({ length: calls }, () =>
        both.runSession(side, turnPrompt({ turns: 0, bytes: 0, pieces })),
      );
      while ((await model.requests()) < before + calls) await sleep(50);
      await sleep(1_000);
      const windows: Window[] = [];
      let from = await look(pid);
      for (let i = 0; i < samples; i++) {
        await sleep(windowMs);
        const to = await look(pid);
        const seconds = (to.at - from.at) / 1000;
        windows.push({
          writesPerSecond: (to.writes - from.writes) / seconds,
          server: (to.server - from.server) / seconds / 10,
          worker: (to.worker - from.worker) / seconds / 10,
          megabytes: await residentMegabytes(pid),
        });
        from = to;
      }
      await Promise.all(sessions);
      log(`${sideNames[side]}: done`);
      return windows;
    };

    const seen = await eachSide(watch);
    const rows = sides.flatMap((side): Row[] => {
      const row = (what: string, unit: Row['unit'], figure: keyof Window): Row => ({
        what: `${what}, ${sideNames[side]}`,
        unit,
        samples: seen[side].map((window) => window[figure]),
      });
      return [
        row('heartbeat writes', 'writes/s', 'writesPerSecond'),
        row('processor time of the server', '% of a core', 'server'),
        row('processor time of the worker', '% of a core', 'worker'),
        row('memory of the worker', 'MB', 'megabytes'),
      ];
    });
    return {
      measure: 'heartbeats',
      conditions:
        `${calls} sessions of one model call each, which brings a piece of text every ${pieceEveryMs} ms; a sample is a window of ` +
        `${windowMs / 1000} s while all stream; writes are the server's count of RecordActivityTaskHeartbeat requests`,
      rows,
    };
  },
};
