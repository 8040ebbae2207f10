import { type AdjutantClient, client } from '@adjutant/server/client';
import type { Host } from '../host.ts';

export interface ServerFlags {
  /** Address of a server; missing: the store of this machine. */
  readonly server?: string;
  /** @default ADJUTANT_KEY */
  readonly key?: string;
}

/** Options of a command that was given `--server`. */
export type RemoteOptions<Options> = Options & { readonly server: string };

export function isRemote<Options extends ServerFlags>(
  options: Options,
): options is RemoteOptions<Options> {
  return options.server !== undefined;
}

/**
 * Milliseconds after which a server is given up that was not there from the beginning. One that was
 * is waited for longer: it may be restarted.
 */
const greetingMs = 2_000;

/**
 * A client of a server that is there. @throws InvalidClientError, ConnectionLostError,
 * UnexpectedAnswerError, ServerProblemError
 */
export async function openClient(
  { env }: Pick<Host, 'env'>,
  options: RemoteOptions<ServerFlags>,
): Promise<AdjutantClient> {
  const { server: url, key = env['ADJUTANT_KEY'] } = options;
  await client({ url, retry: { giveUpAfter: greetingMs } }).health();
  return client({ url, ...(key === undefined || key === '' ? {} : { key }) });
}
