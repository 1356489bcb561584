// The agents of one workflow by name. The workflow `agent` has one; a workflow of one's own has as many as it
// creates, and the first is meant where none is named.

import { CancellationScope, condition, setCurrentDetails } from '@temporalio/workflow';
import { noSuchAgentText } from '../protocol/agent-names.js';
import type { ContextPage, ContextQuery } from '../protocol/session.js';
import type { AgentSession } from './agent-session.js';

export type Addressee = { readonly session: AgentSession } | { readonly problem: string };

export class Agents {
  readonly #sessions = new Map<string, AgentSession>();
  readonly #details = new Map<string, string>();
  /** What people send waits for this; undefined once the workflow's code has begun. */
  begun: Promise<void> | undefined;

  get names(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  has(name: string): boolean {
    return this.#sessions.has(name);
  }

  add(name: string, session: AgentSession): void {
    this.#sessions.set(name, session);
  }

  /** The one that was created first. */
  get first(): AgentSession {
    const [session] = this.#sessions.values();
    if (session === undefined) throw new Error('A handler was called before there was an agent.');
    return session;
  }

  /** Whom the field `agent` of an argument means. */
  addressee(agent: unknown): Addressee {
    if (agent === undefined || agent === null) return { session: this.first };
    const session = typeof agent === 'string' ? this.#sessions.get(agent) : undefined;
    return session === undefined ? { problem: noSuchAgentText(agent, this.names) } : { session };
  }

  /**
   * Waits until no aborted run is left. Runs that were cancelled together end one after the other, each
   * within the bound of an abort: whoever awaits one of them goes on only when all have ended as they should.
   *
   * Not for the runs that `caller` is part of: a run whose hook runs another agent waits for that one.
   */
  async abortedRunsEnded(caller: CancellationScope): Promise<void> {
    const enclosing = new Set<CancellationScope>();
    for (let scope: CancellationScope | undefined = caller; scope; scope = scope.parent) {
      enclosing.add(scope);
    }
    const haveEnded = () =>
      [...this.#sessions.values()].every(
        ({ runScope }) =>
          runScope === undefined || !runScope.consideredCancelled || enclosing.has(runScope),
      );
    await CancellationScope.nonCancellable(() => condition(haveEnded));
  }

  /** A value by its digest, whichever agent keeps it. @throws Error when none does */
  page(query: ContextQuery): ContextPage {
    const sessions = [...this.#sessions.values()];
    const { values } = sessions.find((session) => session.values.has(query.digest)) ?? this.first;
    return values.page(query);
  }

  /** Shows what one agent is doing, beside the others. */
  showDetails(name: string, details: string): void {
    this.#details.set(name, details);
    const [only, another] = this.#details;
    if (only === undefined) return;
    setCurrentDetails(
      another === undefined
        ? only[1]
        : [...this.#details].map(([title, text]) => `### ${title}\n\n${text}`).join('\n\n'),
    );
  }
}
