import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A load balancer: one address for several processes, each connection to the first of them that
 * takes it.
 */
export interface Front {
  readonly url: string;
  /** Ends all connections. */
  cut(): void;
  close(): Promise<void>;
}

export async function front(urls: () => readonly string[]): Promise<Front> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on('close', () => open.delete(client)).on('error', () => client.destroy());
    forward(client, urls(), open);
  });
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function forward(client: Socket, [first, ...others]: readonly string[], open: Set<Socket>): void {
  if (first === undefined) {
    client.destroy();
    return;
  }
  const upstream = connect(Number(new URL(first).port), '127.0.0.1');
  let isConnected = false;
  upstream.on('connect', () => {
    isConnected = true;
    open.add(upstream);
    client.pipe(upstream).pipe(client);
  });
  upstream.on('error', () => (isConnected ? client.destroy() : forward(client, others, open)));
  upstream.on('close', () => {
    open.delete(upstream);
    if (isConnected) client.destroy();
  });
  client.on('close', () => upstream.destroy());
}
