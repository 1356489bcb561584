// Apart from what starts the server: its types need Temporal's package for tests, which few have.

export interface TestServerOptions {
  /** Whether the server skips time. Default: a local one, where an hour takes an hour. */
  readonly timeSkipping?: boolean | undefined;
  /** `host:port` of a server that runs already; none is started. */
  readonly address?: string | undefined;
  /** Told, line by line, when an executable has to be downloaded. Default: to stderr. */
  readonly log?: ((line: string) => void) | undefined;
}
