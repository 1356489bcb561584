// Anyone who may signal a workflow can send a payload that claims to be a reference into external storage.
// Without external storage a worker fails the Workflow Task on it, for ever, before any handler of ours is
// asked. So the worker has a storage that stores nothing and answers every reference with a payload that
// handlers recognise and reject.
//
// What is left: a reference that is malformed itself (no driver name, no JSON) is refused by the SDK before
// any storage is asked. docs/guarantees.md says so.

import { ExternalStorage } from '@temporalio/common';
import type { Payload, StorageDriver } from '@temporalio/common';
import { refusedReferenceEncoding } from '../protocol/handlers.js';

const refusal: Payload = {
  metadata: { encoding: new TextEncoder().encode(refusedReferenceEncoding) },
  data: new Uint8Array(),
};

const refusingDriver: StorageDriver = {
  name: 'refuse',
  type: 'holdfast.refuse',
  store: () => Promise.reject(new Error('This storage keeps nothing.')),
  retrieve: (_context, claims) => Promise.resolve(claims.map(() => refusal)),
};

class RefusingStorage extends ExternalStorage {
  constructor() {
    super({ drivers: [refusingDriver], driverSelector: () => null });
  }

  /** Whatever driver a reference names. */
  override getDriver(): StorageDriver {
    return refusingDriver;
  }
}

/** For the data converter of workers, and of clients that read histories. */
export const refusingStorage: ExternalStorage = new RefusingStorage();
