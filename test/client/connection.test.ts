// How the variables of the environment say where the server is.

import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { serverSettings } from '../../src/client/index.js';

const nowhere = { HOME: tmpdir(), XDG_CONFIG_HOME: `${tmpdir()}/holdfast-no-such-folder` };

test('variables that are empty, as compose files leave them, count as not set: no TLS, no address, no namespace', () => {
  const empty = {
    TEMPORAL_ADDRESS: '',
    TEMPORAL_NAMESPACE: '',
    TEMPORAL_API_KEY: '',
    TEMPORAL_TLS: '',
    TEMPORAL_TLS_CLIENT_CERT_PATH: '',
    TEMPORAL_PROFILE: '',
  };
  expect(serverSettings({}, { ...nowhere, ...empty })).toEqual(serverSettings({}, nowhere));
  expect(serverSettings({}, nowhere)).toEqual({
    address: '127.0.0.1:7233',
    namespace: 'default',
    connectionOptions: { address: '127.0.0.1:7233' },
  });
});

test('an API key switches TLS on', () => {
  expect(
    serverSettings({}, { ...nowhere, TEMPORAL_API_KEY: 'key' }).connectionOptions,
  ).toMatchObject({ apiKey: 'key', tls: true });
});
