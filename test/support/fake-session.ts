// A session outside a workflow: real state, with scopes that do what cancellation does to it. The file that
// uses it must replace `setCurrentDetails` of @temporalio/workflow, which works in a workflow only.

import type { CancellationScope } from '@temporalio/workflow';
import type { RawValue } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common';
import { parseAgentInput } from '../../src/protocol/agent-input.js';
import type { AgentInput } from '../../src/protocol/session.js';
import type { JsonObject } from '../../src/protocol/json.js';
import { AgentSession } from '../../src/workflows/agent-session.js';
import { toolCall, toolSpec } from './loop-values.js';

export function fakeScope(): CancellationScope {
  let reject: (reason: Error) => void = () => {};
  const promise = new Promise<never>((_, settle) => (reject = settle));
  promise.catch(() => undefined);
  const scope = {
    consideredCancelled: false,
    cancelRequested: promise,
    cancel() {
      scope.consideredCancelled = true;
      reject(new Error('cancelled'));
    },
  };
  return scope as unknown as CancellationScope;
}

export function createSession(input: string | AgentInput): AgentSession {
  const parsed = parseAgentInput(input);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return new AgentSession(parsed.value, fakeScope());
}

/** An idle session. */
export function idleSession(input: AgentInput = {}): AgentSession {
  return createSession({ lifetime: 'session', ...input });
}

/** A session in a run, with its scope. */
export function runningSession(input: AgentInput = {}): {
  readonly session: AgentSession;
  readonly scope: CancellationScope;
} {
  const session = idleSession(input);
  const scope = fakeScope();
  session.beginRun(scope);
  return { session, scope };
}

/** Has calls wait for approval; what becomes of them. */
export function awaitApprovals(
  session: AgentSession,
  ids: readonly string[],
  args: JsonObject = {},
  name = 'bash',
) {
  return session.awaitApprovals(
    ids.map((id) => ({
      call: toolCall(id, name, args),
      args,
      message: 0,
      spec: toolSpec(name),
      turn: 1,
    })),
  );
}

/** What a handler is given for this value. */
export function rawOf(value: unknown): RawValue {
  return { payload: defaultPayloadConverter.toPayload(value) } as RawValue;
}

/** A payload of any bytes under any encoding. */
export function rawBytes(data: string | Uint8Array, encoding = 'json/plain'): RawValue {
  const metadata = { encoding: Buffer.from(encoding) };
  return { payload: { metadata, data: Buffer.from(data) } } as unknown as RawValue;
}
