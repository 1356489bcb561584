// Where the local server keeps its things: the user's data and cache folders of this platform.

import { join } from 'node:path';
import envPaths from 'env-paths';

const paths = envPaths('holdfast', { suffix: '' });

/** Database, log and state file of the local server. */
export const defaultDataDirectory = join(paths.data, 'dev-server');

/** Downloaded executables, a folder per version. */
export const defaultCliDirectory = join(paths.cache, 'temporal-cli');
export const defaultTestServerDirectory = join(paths.cache, 'temporal-test-server');

export function databaseOf(dataDirectory: string): string {
  return join(dataDirectory, 'temporal.sqlite');
}

export function logFileOf(dataDirectory: string): string {
  return join(dataDirectory, 'server.log');
}
