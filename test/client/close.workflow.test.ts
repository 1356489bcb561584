import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, inject, test } from 'vitest';
import { AgentClient, ServerUnreachable } from '../../src/client/index.js';

/** A way to the server that can be cut. */
async function openWay(): Promise<{ readonly address: string; cut(): void }> {
  const [host = '', port = ''] = inject('serverAddress').split(':');
  const sockets: Socket[] = [];
  const way = createServer((socket) => {
    const onward = connect(Number(port), host);
    socket.pipe(onward).on('error', () => {});
    onward.pipe(socket).on('error', () => {});
    sockets.push(socket, onward);
  });
  await once(way.listen(0, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${(way.address() as AddressInfo).port}`,
    cut() {
      way.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('a client closed while a call is tried again ends the call, and nothing else', async () => {
  const way = await openWay();
  const client = await AgentClient.connect({ address: way.address });
  way.cut();
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => thrown.push(error);
  process.on('uncaughtException', onThrown);
  try {
    const call = client.start('Go');
    // Its first attempt fails at once; later ones wait for a timer.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.close();
    await expect(call).rejects.toThrow(ServerUnreachable);
    expect(thrown).toEqual([]);
  } finally {
    process.off('uncaughtException', onThrown);
  }
});
