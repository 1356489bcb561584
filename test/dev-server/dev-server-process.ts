// Stands for `holdfast dev` in tests: starts or adopts the server, says so on stdout, and waits.

import { startDevServer } from '../../src/dev-server/index.js';

const [dataDirectory, port, uiPort] = process.argv.slice(2);
const server = await startDevServer({
  ...(dataDirectory === undefined ? {} : { dataDirectory }),
  ...(port === undefined ? {} : { port: Number(port), uiPort: Number(uiPort) }),
});
const { address, uiAddress, pid, adopted } = server;
process.stdout.write(`${JSON.stringify({ address, uiAddress, pid, adopted })}\n`);
process.once('SIGTERM', () => {
  void server.stop().then(() => process.exit(0));
});
setInterval(() => {}, 60_000);
