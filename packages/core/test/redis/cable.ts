import { connect, createServer, type Server, type Socket } from 'node:net';
import { redisUrl } from './server.ts';

/** Stands between the client and Redis, and can be cut. The caller cuts it in the end. */
export async function cable(): Promise<{
  readonly url: string;
  cut: () => Promise<void>;
  mend: () => Promise<void>;
}> {
  const { hostname, port: target } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let server: Server;
  let chosen = 0;
  const listen = async (): Promise<void> => {
    server = createServer((socket) => {
      const upstream = connect(Number(target || 6379), hostname);
      for (const each of [socket, upstream]) {
        sockets.add(each);
        each.on('error', () => undefined);
        each.on('close', () => sockets.delete(each));
      }
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(chosen, '127.0.0.1', resolve));
    chosen = (server.address() as { port: number }).port;
  };
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen();
  return { url: `redis://127.0.0.1:${chosen}`, cut, mend: listen };
}
