// Ports on the loopback interface.

import { createServer } from 'node:net';

export const host = '127.0.0.1';

export async function isPortFree(port: number): Promise<boolean> {
  return (await listen(port)) !== undefined;
}

/** `preferred` when it is free, else one that is. */
export async function choosePort(preferred: number): Promise<number> {
  const port = (await listen(preferred)) ?? (await listen(0));
  if (port === undefined) throw new Error(`No port is free on ${host}.`);
  return port;
}

function listen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}
