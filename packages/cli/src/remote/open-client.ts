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

export function isRemote<Options extends ServerFlags>(options: Options): options is RemoteOptions<Options> {
  return options.server !== undefined;
}

/** Whoever types a command waits for it: a server that is not there is given up soon, and one that restarts is not. */
const giveUpAfterMs = 20_000;

/** @throws InvalidClientError */
export function openClient({ env }: Pick<Host, 'env'>, { server, key = env['ADJUTANT_KEY'] }: RemoteOptions<ServerFlags>): AdjutantClient {
  return client({ url: server, retry: { giveUpAfter: giveUpAfterMs }, ...(key === undefined || key === '' ? {} : { key }) });
}
