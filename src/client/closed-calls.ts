// Ends calls whose client was closed between two of the SDK's attempts at them. The next attempt is made by a
// timer, where the closed channel would throw at nobody and end the process.

import type { ConnectionOptions } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type NextCall = Parameters<Interceptor>[1];
type Call = ReturnType<NextCall>;

/** grpc's CANCELLED; @grpc/grpc-js is not a dependency of ours. */
const cancelled = 1;

/** Stands after the interceptor that retries; the first attempt of a call fails at its caller as ever. */
export function endClosedCalls(): Interceptor {
  const attempted = new WeakSet<object>();
  const intercept = (options: Parameters<NextCall>[0], nextCall: NextCall): Call => {
    const isFirst = !attempted.has(options);
    attempted.add(options);
    try {
      return nextCall(options);
    } catch (error) {
      if (isFirst) throw error;
      return cancelledCall(error instanceof Error ? error.message : String(error));
    }
  };
  // Its type asks for a class of grpc's; what is used of a call is the interface.
  return intercept as Interceptor;
}

function cancelledCall(details: string): Call {
  return {
    start: (metadata, listener) =>
      queueMicrotask(() => listener?.onReceiveStatus?.({ code: cancelled, details, metadata })),
    sendMessage: () => {},
    sendMessageWithContext: () => {},
    startRead: () => {},
    halfClose: () => {},
    cancelWithStatus: () => {},
    getPeer: () => 'nobody',
    getAuthContext: () => null,
  };
}
