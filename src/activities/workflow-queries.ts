// Queries from an activity to its own workflow, over the worker's connection. A worker that just died
// leaves its workflow unanswering for a second or two, so a query is tried again for a while.

import { ApplicationFailure, Context } from '@temporalio/activity';
import { QueryNotRegisteredError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { FailureType } from '../protocol/failure-types.js';
import type { ContextPage, MessagesPage } from '../protocol/session.js';
import type { WorkflowQueries } from './query-pages.js';

/** One try. A query to a session whose worker died waits for the sticky time-out, a second here. */
const tryMs = 5_000;
/** All tries; then the attempt of the activity fails, and another is made. */
const giveUpMs = 30_000;

/** The queries of the workflow that the present activity belongs to. */
export function queriesOfPresentWorkflow(client: Client): WorkflowQueries {
  const { workflowId, runId } = Context.current().info.workflowExecution ?? {};
  if (workflowId === undefined) throw new Error('This activity belongs to no workflow.');
  const handle = client.workflow.getHandle(workflowId, runId);
  return {
    session: workflowId,
    messages: (query, signal) =>
      persist<MessagesPage>(client, signal, () => handle.query('messages', query)),
    context: (query, signal) =>
      persist<ContextPage>(client, signal, () => handle.query('context', query)),
  };
}

async function persist<Page>(
  client: Client,
  signal: AbortSignal,
  query: () => Promise<unknown>,
): Promise<Page> {
  const giveUpAt = Date.now() + giveUpMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      return (await withOwnSignal(signal, (own) =>
        client.withAbortSignal(own, () => client.withDeadline(Date.now() + tryMs, query)),
      )) as Page;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof QueryNotRegisteredError || Date.now() > giveUpAt) {
        throw ApplicationFailure.create({
          type: FailureType.ConversationUnavailable,
          message: `The conversation could not be read from its workflow: ${error instanceof Error ? error.message : String(error)}`,
          nonRetryable: false,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/**
 * The client leaves a listener on the signal of every call: a long transcript, read in pages, would pile
 * them up on the activity's own.
 */
async function withOwnSignal<T>(
  signal: AbortSignal,
  action: (own: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const stop = () => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await action(own.signal);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
