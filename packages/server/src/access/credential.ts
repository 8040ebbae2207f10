import type { Context } from 'hono';

/** Longer ones are not looked at. */
const longestCredential = 8_192;
/**
 * Prefix of the subprotocol by which a page gives its credential to a WebSocket, which cannot have
 * headers: `new WebSocket(url, ['adjutant.v1', 'bearer.<credential>'])`.
 */
const protocolPrefix = 'bearer.';

/** The protocol of sockets. */
const socketProtocol = 'adjutant.v1';

/**
 * The protocol that a handshake is answered with: never the one that is a credential, which would
 * stand in a header of the answer.
 */
export function chosenProtocol(offered: ReadonlySet<string>): string | false {
  return offered.has(socketProtocol) ? socketProtocol : false;
}

/**
 * Returns the credential of a request. It is never taken from the address, because addresses are
 * written to many logs.
 */
export function credentialIn({ req }: Pick<Context, 'req'>): string | undefined {
  const header = req.header('authorization');
  const credential =
    header === undefined ? offeredProtocol(req) : /^Bearer +([^\s,]+) *$/i.exec(header)?.[1];
  return credential === undefined || credential.length > longestCredential ? undefined : credential;
}

function offeredProtocol(req: Context['req']): string | undefined {
  if (req.header('upgrade')?.toLowerCase() !== 'websocket') return undefined;
  const offered = (req.header('sec-websocket-protocol') ?? '')
    .split(',')
    .map((protocol) => protocol.trim());
  return offered
    .find((protocol) => protocol.startsWith(protocolPrefix))
    ?.slice(protocolPrefix.length);
}
