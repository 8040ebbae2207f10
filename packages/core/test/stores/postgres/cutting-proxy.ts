import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  /** The server's address with the proxy in place of it. */
  readonly url: string;
  /** Number of statements with the marks since the last arming. */
  readonly seen: () => number;
  /** Number of connections cut since the last arming. */
  readonly cuts: () => number;
  /**
   * Lets the server carry out the `number`th statement from now on whose parameters contain `mark`,
   * and the ones after it, as many as `times`; keeps their answers back and cuts the connection:
   * what was asked is committed, and whoever asked does not know.
   */
  arm(mark: string, number: number, times?: number): void;
  /** Cuts all connections, and all that are made from now on until `restore` is called. */
  cutAll(): void;
  restore(): void;
  close(): Promise<void>;
}

const readyForQuery = 0x5a;
const bind = 0x42;

/**
 * A way to a PostgreSQL server that can be cut at the worst moment. Understands as much of the
 * protocol as it needs for that.
 */
export async function cuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let armed: { readonly mark: string; readonly number: number; readonly times: number } | undefined;
  let seen = 0;
  let cuts = 0;
  let down = false;

  const isToBeCut = (message: Buffer): boolean => {
    if (armed === undefined || message[0] !== bind || !message.includes(armed.mark)) return false;
    seen += 1;
    return seen >= armed.number && seen < armed.number + armed.times;
  };

  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const close = (): void => {
      client.destroy();
      upstream.destroy();
      sockets.delete(client);
    };
    sockets.add(client);
    if (down) close();
    for (const socket of [client, upstream])
      socket.on('error', close).on('close', close).setNoDelay(true);
    let cutting = false;
    // The first message of a client has no type.
    const fromClient = messageReader(false, (message) => {
      if (isToBeCut(message)) cutting = true;
    });
    const fromServer = messageReader(true, (message) => {
      if (!cutting || message[0] !== readyForQuery) return;
      cuts += 1;
      close();
    });
    client.on('data', (chunk) => {
      fromClient(chunk);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!cutting) client.write(chunk);
      fromServer(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    seen: () => seen,
    cuts: () => cuts,
    arm(mark, number, times = 1) {
      armed = { mark, number, times };
      seen = 0;
      cuts = 0;
    },
    cutAll() {
      down = true;
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      down = false;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/**
 * Splits a stream into messages of the protocol: a type, a length that counts itself, and the rest.
 */
function messageReader(
  firstHasType: boolean,
  take: (message: Buffer) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let hasType = firstHasType;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const lengthAt = hasType ? 1 : 0;
      if (rest.length < lengthAt + 4) return;
      const end = lengthAt + rest.readUInt32BE(lengthAt);
      if (rest.length < end) return;
      take(rest.subarray(0, end));
      rest = rest.subarray(end);
      hasType = true;
    }
  };
}
