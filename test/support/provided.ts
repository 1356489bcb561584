// What the global set-ups hand to tests.

declare module 'vitest' {
  export interface ProvidedContext {
    /** File of the bundled workflows. */
    bundlePath: string;
    /** `host:port` of the Temporal server of this test run. */
    serverAddress: string;
    /** Path of the `temporal` executable. */
    temporalPath: string;
  }
}

export type {} from 'vitest';
