import { once } from 'node:events';
import { type AddressInfo, createServer, connect as openSocket, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface CuttingProxy {
  readonly url: string;
  /** Connections that were made, and that were cut. */
  readonly connections: number;
  readonly cuts: number;
  /** Cuts all connections off that are open. */
  cut(): void;
}

export interface ProxyOptions {
  readonly target: () => number;
  /**
   * Bytes of a connection's answers after which both sides are cut off, wherever that is;
   * `undefined`: never.
   */
  readonly cutAfter: (connection: number) => number | undefined;
}

/** A TCP proxy that cuts connections. */
export async function cuttingProxy({ target, cutAfter }: ProxyOptions): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const counts = { connections: 0, cuts: 0 };
  const proxy = createServer((incoming) => {
    let left = cutAfter(counts.connections++) ?? Number.POSITIVE_INFINITY;
    const outgoing = openSocket(target(), '127.0.0.1');
    const end = (): void => {
      incoming.destroy();
      outgoing.destroy();
    };
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    incoming.pipe(outgoing);
    outgoing.on('data', (bytes: Buffer) => {
      if (incoming.destroyed) return;
      if (bytes.length < left) {
        left -= bytes.length;
        incoming.write(bytes);
        return;
      }
      counts.cuts++;
      incoming.write(bytes.subarray(0, left), end);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return counts.connections;
    },
    get cuts() {
      return counts.cuts;
    },
    cut() {
      counts.cuts += sockets.size / 2;
      for (const socket of sockets) socket.destroy();
    },
  };
}
