// An interceptor for the replaying worker only: when the workflow has ended, it asks the `events` query in
// the sandbox and hands the pages out through a sink.

import { proxySinks } from '@temporalio/workflow';
import type { Sinks, WorkflowInterceptors } from '@temporalio/workflow';
import type { EventsPage } from '../../src/protocol/events.js';

export interface ReplaySinks extends Sinks {
  readonly replay: { events(page: EventsPage): void };
}

/** The SDK keeps the running workflow here; a replay cannot be queried from outside. */
declare const __TEMPORAL_ACTIVATOR__: {
  readonly queryHandlers: Map<string, { handler: () => EventsPage }>;
};

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        const { replay } = proxySinks<ReplaySinks>();
        try {
          return await next(input);
        } finally {
          const handler = __TEMPORAL_ACTIVATOR__.queryHandlers.get('events')?.handler;
          if (handler !== undefined) replay.events(handler());
        }
      },
    },
  ],
});
