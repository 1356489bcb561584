// The local Temporal server: finding the executable, starting, adopting and stopping.

export { configuredAddress, localServerAddress } from './configured-server.js';
export { startDevServer } from './dev-server.js';
export type { DevServer, StartDevServerOptions } from './dev-server.js';
export { serverSettings } from './launch.js';
export { ensureTemporalCli, temporalCliVersion, TemporalCliError } from './temporal-cli.js';
export type { EnsureTemporalCliOptions } from './temporal-cli.js';
