// What an operator can do to the activities of a running agent with the stock CLI.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test, vi } from 'vitest';
import type { AgentRun } from '../../src/client/index.js';
import { reply, step } from '../../src/testing/scripted-model.js';
import { createAgentWorld, messagesOf } from '../support/agent-world.js';
import type { AgentWorld } from '../support/agent-world.js';

const temporal = async (...args: readonly string[]) =>
  promisify(execFile)(inject('temporalPath'), [...args, '--address', inject('serverAddress')]);

/** The id of the one pending activity of this type, once it runs. */
async function runningActivity(world: AgentWorld, run: AgentRun, type: string): Promise<string> {
  return await vi.waitFor(
    async () => {
      const handle = world.client.temporal.workflow.getHandle(run.workflowId);
      const { raw } = await handle.describe();
      const pending = raw.pendingActivities?.find(
        ({ activityType }) => activityType?.name === type,
      );
      // A heartbeat: its code runs.
      expect(pending?.lastHeartbeatTime).toBeTruthy();
      return pending?.activityId ?? '';
    },
    { timeout: 20_000, interval: 100 },
  );
}

describe('temporal activity', () => {
  test('pause and unpause do not run a tool twice that must not run twice', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          {
            name: 'bash',
            arguments: { command: 'echo ran >> log.txt; sleep 5; echo done >> log.txt' },
          },
        ]),
        reply.text('I see.'),
      ],
    });
    const run = await world.client.start('Go');
    const id = await runningActivity(world, run, 'callTool');
    await temporal('activity', 'pause', '--activity-id', id, '--workflow-id', run.workflowId);
    await vi.waitFor(async () => expect((await run.state()).status).toBe('running'));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await temporal('activity', 'unpause', '--activity-id', id, '--workflow-id', run.workflowId);
    expect((await run.result()).response?.content).toBe('I see.');
    expect(await readFile(join(world.workspace, 'log.txt'), 'utf8')).toBe('ran\n');
    expect(JSON.stringify((await messagesOf(run))[2])).toContain('outcome of this call is unknown');
  });

  test.each(['null', '{"x":1}', '{"message":{"role":"assistant","content":"hi"},"prepared":[]}'])(
    'a model call that is completed by hand with %s ends the run in an error, and wedges nothing',
    async (result) => {
      await using world = await createAgentWorld({ script: [reply.raw([step.hang])] });
      const run = await world.client.start('Go');
      const id = await runningActivity(world, run, 'completeChat');
      await temporal(
        'activity',
        'complete',
        '--activity-id',
        id,
        '--workflow-id',
        run.workflowId,
        '--result',
        result,
      );
      await expect(run.result()).rejects.toThrow('cannot be read');
    },
  );
});
