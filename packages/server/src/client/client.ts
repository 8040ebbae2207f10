import { Approvals, Operations } from './approvals.ts';
import { type ClientOptions, resolveClientOptions } from './options.ts';
import { Runs } from './runs.ts';
import { Sessions } from './sessions.ts';
import { type CallOptions, pathOf, Transport } from './transport.ts';
import type { Health, ServerAgent } from './types.ts';

/** What a server can run, as far as the caller may know of it. */
export interface Agents {
  list(options?: CallOptions): Promise<readonly ServerAgent[]>;
  get(name: string, options?: CallOptions): Promise<ServerAgent>;
}

/** A server of Adjutant's, as a program or a page sees it. */
export interface AdjutantClient {
  readonly sessions: Sessions;
  readonly runs: Runs;
  readonly approvals: Approvals;
  readonly operations: Operations;
  /** What can be run. */
  readonly agents: Agents;
  /** Whether the server lives. */
  health(options?: CallOptions): Promise<Health>;
}

/**
 * Makes a client of a server. Nothing is sent until something is asked for.
 * @throws InvalidClientError
 */
export function client(options: ClientOptions): AdjutantClient {
  const transport = new Transport(resolveClientOptions(options));
  return {
    sessions: new Sessions(transport),
    runs: new Runs(transport),
    approvals: new Approvals(transport),
    operations: new Operations(transport),
    agents: agentsOf(transport),
    health: (options = {}) => transport.json({ method: 'GET', path: pathOf('health'), ...options }),
  };
}

function agentsOf(transport: Transport): Agents {
  return {
    list: async (options = {}) => {
      const { agents } = await transport.json<{ agents: readonly ServerAgent[] }>({ method: 'GET', path: pathOf('agents'), ...options });
      return agents;
    },
    get: (name, options = {}) => transport.json({ method: 'GET', path: pathOf('agents', name), ...options }),
  };
}
