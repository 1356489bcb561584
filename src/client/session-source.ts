// A session as the follower sees it, read from a Temporal client.

import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { EventsPage, EventsQuery } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import type { MessagesPage, MessagesQuery } from '../protocol/session.js';
import { askServer, askWorker } from './calls.js';
import type { CloseStatus } from './followed-events.js';
import type { FollowedSession, SessionDescription } from './follower.js';
import { readMessages } from './messages-reader.js';
import { readPendingActivities } from './pending-activities.js';

const closeStatuses: { readonly [status: string]: CloseStatus } = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'canceled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timedOut',
};

/**
 * Stays with the chain of runs it saw first: when the id is started again, the first chain is still
 * the one followed, to its end.
 */
export function createFollowedSession(
  client: Client,
  workflowId: string,
  agent?: string,
): FollowedSession {
  let firstRunId: string | undefined;
  let lastRunId: string | undefined;
  /** Set once the id belongs to another chain. */
  let pinnedRunId: string | undefined;

  const addressed = agent === undefined ? {} : { agent };
  const handle = () => client.workflow.getHandle(workflowId, pinnedRunId);

  const describe = async (): Promise<SessionDescription> => {
    let description = await handle().describe();
    const chain = description.raw.workflowExecutionInfo?.firstRunId || description.runId;
    if (pinnedRunId === undefined && firstRunId !== undefined && chain !== firstRunId) {
      pinnedRunId = lastRunId;
      description = await handle().describe();
    } else {
      firstRunId ??= chain;
      lastRunId = description.runId;
    }
    return toSessionDescription(description, client);
  };

  return {
    describe: () => askServer(client, workflowId, describe),
    events: (query) =>
      askWorker(client, workflowId, () =>
        handle().query<EventsPage, [EventsQuery]>('events', { ...query, ...addressed }),
      ),
    message: (index) =>
      askWorker(client, workflowId, async (): Promise<Message> => {
        const pages = readMessages(
          (query) =>
            handle().query<MessagesPage, [MessagesQuery]>('messages', { ...query, ...addressed }),
          { from: index, to: index + 1 },
        );
        const { value } = await pages.next();
        if (value === undefined) throw new Error(`The transcript has no message ${index}.`);
        return value;
      }),
  };
}

async function toSessionDescription(
  description: WorkflowExecutionDescription,
  client: Client,
): Promise<SessionDescription> {
  const { runId, historyLength, status } = description;
  return {
    version: `${runId}/${historyLength}/${status.name}`,
    closed: closeStatuses[status.name],
    pending: await readPendingActivities(description.raw, client.options.loadedDataConverter),
  };
}
