import { type AdjutantClient, client } from '@adjutant/server/client';
import type { Host } from '../host/host.ts';
import type { RemoteOptions, ServerFlags } from './server-flags.ts';

/**
 * Milliseconds of patience with a server that does not answer the first request. The patience with
 * a server that answered is longer: it may be restarted.
 */
const greetingMs = 2_000;

/**
 * Returns a client of a server that answers. @throws InvalidClientError, ConnectionLostError,
 * UnexpectedAnswerError, ServerProblemError
 */
export async function openClient(
  { env }: Pick<Host, 'env'>,
  options: RemoteOptions<ServerFlags>,
): Promise<AdjutantClient> {
  const { server: url, key = env['ADJUTANT_KEY'] } = options;
  await client({ url, retry: { giveUpAfterMs: greetingMs } }).health();
  return client({ url, ...(key === undefined || key === '' ? {} : { key }) });
}
