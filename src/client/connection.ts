// Where the Temporal server is and how to reach it: Temporal's own configuration (environment variables
// and `temporal.toml`), with a caller's options before it.

import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { endClosedCalls } from './closed-calls.js';
import { readTemporalConfig, setVariables } from './temporal-config.js';
import { AgentClientError, grpcCodeOf, reasonOf, ServerUnreachable } from './errors.js';

export interface ServerOptions {
  /** `host:port`. Default: TEMPORAL_ADDRESS, `temporal.toml`, `127.0.0.1:7233`. */
  readonly address?: string | undefined;
  /** Default: TEMPORAL_NAMESPACE, `temporal.toml`, `default`. */
  readonly namespace?: string | undefined;
}

const defaultAddress = '127.0.0.1:7233';

interface ServerConnectionOptions {
  readonly address: string;
  readonly tls?: NonNullable<ConnectionOptions['tls']>;
  readonly apiKey?: string;
  readonly metadata?: NonNullable<ConnectionOptions['metadata']>;
}

/** The settings a connection is made from, for clients and workers alike. */
export interface ServerSettings {
  readonly address: string;
  readonly namespace: string;
  /** Address, TLS, API key and metadata, as both kinds of connection take them. */
  readonly connectionOptions: ServerConnectionOptions;
}

/** @throws AgentClientError when `temporal.toml` or a variable cannot be read */
export function serverSettings(
  options: ServerOptions = {},
  environment: NodeJS.ProcessEnv = process.env,
): ServerSettings {
  const overrideEnvVars = setVariables(environment);
  const config = readTemporalConfig(() => loadClientConnectConfig({ overrideEnvVars }));
  const { tls, apiKey, metadata } = config.connectionOptions;
  const address = options.address ?? config.connectionOptions.address ?? defaultAddress;
  return {
    address,
    namespace: options.namespace ?? config.namespace ?? 'default',
    connectionOptions: {
      address,
      ...(tls == null ? {} : { tls }),
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(metadata === undefined ? {} : { metadata }),
    },
  };
}

/**
 * Connects a client. A server that went away is looked for again within seconds, so that a follower
 * goes on soon after it is back.
 * @throws ServerUnreachable when nothing answers within five seconds.
 */
export async function connectClient(settings: ServerSettings): Promise<Connection> {
  const connection = Connection.lazy({
    ...settings.connectionOptions,
    connectTimeout: '5 seconds',
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endClosedCalls()],
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    },
  });
  try {
    await connection.ensureConnected();
    return connection;
  } catch (error) {
    await connection.close();
    throw toConnectError(settings.address, error);
  }
}

const refusedCodes: ReadonlySet<number | undefined> = new Set([7, 16]);

/** The error of a client's connection, or of a worker's, whose errors have no code. */
export function toConnectError(address: string, error: unknown): Error {
  const isRefused =
    refusedCodes.has(grpcCodeOf(error)) ||
    /PermissionDenied|Unauthenticated|certificate|InvalidCertificate/i.test(reasonOf(error));
  if (isRefused) {
    return new AgentClientError(
      `The Temporal server at ${address} refuses the connection: ${reasonOf(error)}. Check TEMPORAL_API_KEY and the TLS variables.`,
      { cause: error },
    );
  }
  return new ServerUnreachable(address, { cause: error });
}
