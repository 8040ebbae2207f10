import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that loses connections. */
export interface CuttingProxy {
  readonly port: number;
  /** Connections that it has cut. */
  readonly cuts: number;
  /** Those of them that had bytes under way, which came only in part. */
  readonly partCuts: number;
  close(): Promise<void>;
}

/**
 * Bytes of answers after which a connection is cut: few or many, so that also what is long gets
 * through at some time.
 */
const fewestBytes = 500;
const mostBytes = 60_000;
/**
 * The same for connections of clients that have nothing yet. Time does not cut them, and each
 * stream has more bytes: so each client is cut within bytes, however slow the machine is.
 */
const mostFirstBytes = 3_000;
/** Milliseconds after which a connection is cut that says nothing. */
const longestMs = 4_000;
const uncutShare = 0.05;

/**
 * Forwards connections to a port of this machine and cuts them at random places, in the middle of
 * whatever goes through.
 */
export async function cuttingProxy(target: number, random: () => number): Promise<CuttingProxy> {
  let cuts = 0;
  let partCuts = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    open.add(client).add(upstream);
    const isUncut = random() < uncutShare;
    let left = isUncut
      ? Number.POSITIVE_INFINITY
      : fewestBytes + Math.floor(random() ** 2 * mostBytes);
    client.once('data', (head) => {
      if (head.includes('last-event-id')) return;
      left = Math.min(left, fewestBytes + Math.floor(random() * mostFirstBytes));
      clearTimeout(timer);
    });
    const end = (): void => {
      clearTimeout(timer);
      client.destroy();
      upstream.destroy();
      open.delete(client);
      open.delete(upstream);
    };
    const cut = (): void => {
      cuts++;
      end();
    };
    const timer = setTimeout(cut, isUncut ? 2 ** 30 : 200 + random() * longestMs);
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      if (bytes.length <= left) {
        left -= bytes.length;
        if (!client.write(bytes)) {
          upstream.pause();
          client.once('drain', () => upstream.resume());
        }
        return;
      }
      partCuts++;
      upstream.pause();
      client.write(bytes.subarray(0, left), cut);
    });
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    get partCuts() {
      return partCuts;
    },
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
