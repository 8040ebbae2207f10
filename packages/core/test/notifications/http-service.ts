import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly json: () => Record<string, unknown>;
}

export interface HttpService {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves with the next request that comes. */
  readonly next: () => Promise<ReceivedRequest>;
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/** Answers with a status, a body and headers. */
export function answer(
  status: number,
  body: unknown = 'ok',
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return (response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Starts a server of this machine that plays the service of a vendor. */
export async function httpService(respond: Answer = answer(200)): Promise<HttpService> {
  const requests: ReceivedRequest[] = [];
  let tell: (request: ReceivedRequest) => void = () => undefined;
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const { method = '', url: path = '', headers } = incoming;
    const json = (): Record<string, unknown> => JSON.parse(body.toString());
    const request = { method, path, headers, body, json };
    requests.push(request);
    tell(request);
    respond(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  const next = (): Promise<ReceivedRequest> =>
    new Promise((resolve) => {
      tell = resolve;
    });
  return { url: `http://127.0.0.1:${port}`, requests, next };
}

/** Returns the only request that came. */
export function soleRequest({ requests }: HttpService): ReceivedRequest {
  const [request] = requests;
  if (request === undefined || requests.length > 1)
    throw new Error(`${requests.length} requests came.`);
  return request;
}
