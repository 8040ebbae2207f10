import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { systemIds } from 'adjutant/ports';
import { problemResponse, RequestRefusedError } from './problem.ts';

/**
 * A server of Node that refuses requests, and upgrades too, whose address is none: the platform's
 * `Request` cannot be made of them, and the adapter would answer without saying why.
 */
export function serverOfWholeTargets(options: ServerOptions, listener: RequestListener): Server {
  return createServer(options, (request, response) => {
    const defect = defectOf(request);
    if (defect === undefined) listener(request, response);
    else void refuse(response, defect);
  });
}

/**
 * Lets the one listener to upgrades have only those with an address. It takes the place of that
 * listener: the adapter refuses what it does not take only while nobody else listens.
 */
export function refuseBrokenUpgrades(server: Server): void {
  const listeners = server.listeners('upgrade') as ((
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => void)[];
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const defect = defectOf(request);
    if (defect === undefined)
      for (const listener of listeners) listener.call(server, request, socket, head);
    else void refuseUpgrade(socket, defect);
  });
}

/** Returns the defect of the address in a request, worded to follow "The request does not fit:". */
function defectOf({ url: target = '', headers: { host } }: IncomingMessage): string | undefined {
  const [path = ''] = target.split('?', 1);
  if (path.includes('\\')) return 'its path has a backslash.';
  if (/^https?:\/\//.test(target)) {
    const url = URL.parse(target);
    if (url === null) return 'its target is no address.';
    return url.username === '' && url.password === ''
      ? undefined
      : 'its target has a user name or a password; send credentials in the header "Authorization".';
  }
  if (!target.startsWith('/')) return 'its target is no path.';
  return host !== undefined && isHost(host) && URL.canParse(`http://${host}${target}`)
    ? undefined
    : 'its header "Host" is missing or names no host.';
}

/**
 * True when a host is written as in addresses: with nothing before or behind it, and not so that
 * parsing changes it.
 */
function isHost(host: string): boolean {
  const url = URL.parse(`http://${host}/`);
  return (
    url !== null && url.hostname !== '' && url.hostname === host.replace(/:\d*$/, '').toLowerCase()
  );
}

function problemOf(defect: string): Response {
  const refusal = new RequestRefusedError(
    400,
    'invalid_request',
    `The request does not fit: ${defect}`,
    {},
    { connection: 'close' },
  );
  return problemResponse(refusal, `req_${systemIds.next()}`);
}

async function refuse(response: ServerResponse, defect: string): Promise<void> {
  const problem = problemOf(defect);
  response.writeHead(problem.status, Object.fromEntries(problem.headers));
  response.end(await problem.text());
}

async function refuseUpgrade(socket: Duplex, defect: string): Promise<void> {
  // The caller may be gone before the answer is sent.
  socket.on('error', () => socket.destroy());
  const problem = problemOf(defect);
  const text = await problem.text();
  const headers = {
    ...Object.fromEntries(problem.headers),
    'content-length': Buffer.byteLength(text),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head.join('')}\r\n${text}`,
  );
}
