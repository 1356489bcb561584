// Standard output and error as commands use them. Colour only on a terminal and without NO_COLOR.

import pc from 'picocolors';
import { commandName } from './command-name.js';

type Colours = ReturnType<typeof pc.createColors>;

export interface Terminal {
  /** Writes to standard output, which carries what was asked for. */
  readonly write: (text: string) => void;
  /** Writes a line to standard error, which carries what is said about it. */
  readonly note: (line: string) => void;
  readonly isTty: boolean;
  readonly columns: number;
  readonly colours: Colours;
  readonly noteColours: Colours;
}

export function createTerminal({
  stdout,
  stderr,
  env,
}: Pick<NodeJS.Process, 'stdout' | 'stderr' | 'env'> = process): Terminal {
  // A reader that has seen enough (`| head`) is no error.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    write: (text) => void stdout.write(text),
    note: (line) => void stderr.write(`${asCalled(line, env)}\n`),
    isTty: stdout.isTTY,
    get columns() {
      // Some pseudo terminals say 0.
      return stdout.isTTY ? stdout.columns || 80 : 120;
    },
    colours: pc.createColors(mayColour(stdout.isTTY, env)),
    noteColours: pc.createColors(mayColour(stderr.isTTY, env)),
  };
}

/** Sentences of the library name the command `holdfast`; people paste what they read. */
function asCalled(line: string, env: NodeJS.ProcessEnv): string {
  return line.replaceAll('`holdfast ', `\`${commandName(env)} `);
}

/** `isTty` is undefined for a pipe. */
export function mayColour(isTty: boolean | undefined, env: NodeJS.ProcessEnv): boolean {
  // Never undefined: picocolors would then decide, and it colours wherever CI is set.
  if (isTty !== true) return false;
  // NO_COLOR counts when it is set to anything but the empty string (no-color.org).
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}
