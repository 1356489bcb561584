// The local Temporal server: finding the executable, starting, adopting and stopping.

export { configuredAddress, localServerAddress } from './configured-server.js';
export { startDevServer } from './dev-server.js';
export type { DevServer, StartDevServerOptions } from './dev-server.js';
export { serverSettings } from './launch.js';
export { TemporalExecutableError } from './executable.js';
export type { EnsureExecutableOptions } from './executable.js';
export { ensureTemporalCli, temporalCliVersion } from './temporal-cli.js';
export { ensureTestServer, testServerVersion } from './test-server.js';
