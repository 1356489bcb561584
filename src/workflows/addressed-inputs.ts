// Finds the agent that an input is for, and has it accepted there.

import { isJsonObject } from '../protocol/json.js';
import type { SignalKind } from '../protocol/events.js';
import type { SubmitOutcome } from '../protocol/handlers.js';
import type { Agents } from './agents.js';
import type { Decoded } from './payload.js';
import { acceptInput, acceptSubmit, reject } from './session-inputs.js';

/** A signal. For an agent that does not exist it is recorded as rejected by the first. */
export function acceptSignal(agents: Agents, kind: SignalKind, decoded: Decoded): void {
  const addressee = agents.addressee(agentField(decoded));
  if ('problem' in addressee) reject(agents.first, kind, undefined, addressee.problem);
  else acceptInput(addressee.session, kind, decoded);
}

/** The update `submit`, whose `agent` may also stand in its message, as a signal's does. */
export function acceptUpdate(agents: Agents, decoded: Decoded): SubmitOutcome {
  const message =
    decoded.kind === 'value' && isJsonObject(decoded.value) ? decoded.value['message'] : undefined;
  const inner = isJsonObject(message) ? message['agent'] : undefined;
  const addressee = agents.addressee(agentField(decoded) ?? inner);
  if ('problem' in addressee) return { outcome: 'rejected', reason: addressee.problem };
  return acceptSubmit(addressee.session, decoded);
}

function agentField(decoded: Decoded): unknown {
  return decoded.kind === 'value' && isJsonObject(decoded.value)
    ? decoded.value['agent']
    : undefined;
}
