import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configuredAddress } from '../../src/dev-server/index.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-profile-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('configuredAddress', () => {
  test('is the address of TEMPORAL_ADDRESS', () => {
    expect(configuredAddress({ TEMPORAL_ADDRESS: 'temporal.example:7233' })).toBe(
      'temporal.example:7233',
    );
  });

  test('is the address of the chosen profile in temporal.toml', async () => {
    const file = join(folder, 'temporal.toml');
    await writeFile(
      file,
      '[profile.default]\naddress = "one.example:7233"\n[profile.other]\naddress = "two.example:7233"\n',
    );
    expect(configuredAddress({ TEMPORAL_CONFIG_FILE: file })).toBe('one.example:7233');
    expect(configuredAddress({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'other' })).toBe(
      'two.example:7233',
    );
  });

  test('is that of temporal.toml where the variable is empty, as one that is not set', async () => {
    const file = join(folder, 'temporal.toml');
    await writeFile(file, '[profile.default]\naddress = "one.example:7233"\n');
    expect(
      configuredAddress({
        TEMPORAL_CONFIG_FILE: file,
        TEMPORAL_PROFILE: '',
        TEMPORAL_ADDRESS: '',
      }),
    ).toBe('one.example:7233');
  });

  test('is undefined where neither names one', async () => {
    const file = join(folder, 'temporal.toml');
    await writeFile(file, '[profile.default]\nnamespace = "mine"\n');
    expect(configuredAddress({ TEMPORAL_CONFIG_FILE: file })).toBeUndefined();
    expect(configuredAddress({ HOME: folder, XDG_CONFIG_HOME: folder })).toBeUndefined();
  });
});
