import { Approvals, Operations } from './approvals.ts';
import { Chats } from './chats.ts';
import { defined } from './defined.ts';
import { Evals } from './evals/evals.ts';
import { Audit, Keys } from './keys.ts';
import { Listing } from './listing.ts';
import { Notices } from './notices.ts';
import { type ClientOptions, resolveClientOptions } from './options.ts';
import { Runs } from './runs.ts';
import { Sessions } from './sessions.ts';
import { Tasks } from './tasks.ts';
import { type CallOptions, pathOf, problemOf, Transport, type WriteOptions } from './transport.ts';
import { Triggers } from './triggers.ts';
import type {
  Health,
  Me,
  NewPublishedEvent,
  Readiness,
  ServerAgent,
  SessionUsage,
  ToolUsagePage,
  UsagePage,
  UsageQuery,
} from './types.ts';

/** Runnables of a server that the caller may know of. */
export interface Agents {
  list(options?: CallOptions): Promise<readonly ServerAgent[]>;
  get(name: string, options?: CallOptions): Promise<ServerAgent>;
}

/** Usage of model calls. */
export interface UsageOfModels {
  /** A page, with the sum of its sessions. `complete` says whether that is the sum of all. */
  page(query?: UsageQuery, options?: CallOptions): Promise<UsagePage>;
  /** Each session in which models were called. */
  list(
    query?: Omit<UsageQuery, 'cursor'>,
    options?: CallOptions,
  ): Listing<SessionUsage, 'sessions'>;
  /** Calls, failures and durations of tools, and rounds of agents: of a page of sessions. */
  tools(query?: UsageQuery, options?: CallOptions): Promise<ToolUsagePage>;
}

/** A server of Adjutant's, as a program or a page sees it. */
export interface AdjutantClient {
  readonly sessions: Sessions;
  readonly runs: Runs;
  /** Runs that wait for their turn. */
  readonly tasks: Tasks;
  /** Triggers, which start tasks by themselves. */
  readonly triggers: Triggers;
  /** Messages to people. */
  readonly notices: Notices;
  readonly approvals: Approvals;
  readonly operations: Operations;
  /**
   * Publishes an event, once however often the connection is lost meanwhile. The same `id` again is
   * the same event.
   */
  publish(event: NewPublishedEvent, options?: WriteOptions): Promise<{ readonly id: string }>;
  /** Chats as `useChat` of the AI SDK holds them. */
  readonly chats: Chats;
  /** Runnables of the app. */
  readonly agents: Agents;
  readonly usage: UsageOfModels;
  /** Reports of evals, and their comparison. */
  readonly evals: Evals;
  /** API keys of the tenant. */
  readonly keys: Keys;
  /** The audit log: acts with their callers, and refusals. */
  readonly audit: Audit;
  /** The caller, and what it may do. */
  me(options?: CallOptions): Promise<Me>;
  /**
   * Changes an API key or a token for a cookie, in a page that the server itself has sent. Requests
   * need no `key` from then on. A refusal is told at once, also when there were too many attempts.
   */
  signIn(credential: string, options?: CallOptions): Promise<void>;
  /** Ends the sign-in of the page. */
  signOut(options?: CallOptions): Promise<void>;
  /** Checks that the server lives. */
  health(options?: CallOptions): Promise<Health>;
  /** Tells whether the process can work. Asked once: a process that cannot says so at once. */
  readiness(options?: CallOptions): Promise<Readiness>;
}

/**
 * Makes a client of a server. Nothing is sent until something is asked for.
 * @throws InvalidClientError
 * @example
 * ```ts
 * import { serve } from '@adjutant/server';
 * import { client } from '@adjutant/server/client';
 * import { agent, rehearsal, runtime } from 'adjutant';
 *
 * const clerk = agent({ name: 'clerk', model: rehearsal() });
 * const server = await serve(runtime({ app: 'shop', runnables: [clerk] }), { port: 0 });
 * const api = client({ url: server.url });
 * const { output } = await api.runs.start({ agent: 'clerk', input: 'What can you do?' });
 * console.log(output);
 * await server.close();
 * ```
 */
export function client(options: ClientOptions): AdjutantClient {
  const transport = new Transport(resolveClientOptions(options));
  return {
    sessions: new Sessions(transport),
    runs: new Runs(transport),
    tasks: new Tasks(transport),
    triggers: new Triggers(transport),
    notices: new Notices(transport),
    approvals: new Approvals(transport),
    operations: new Operations(transport),
    chats: new Chats(transport),
    publish: (event, options = {}) =>
      transport.json({ method: 'POST', path: pathOf('events'), body: event, ...options }),
    agents: agentsOf(transport),
    usage: usageOf(transport),
    evals: new Evals(transport),
    keys: new Keys(transport),
    audit: new Audit(transport),
    me: (options = {}) => transport.json({ method: 'GET', path: pathOf('me'), ...options }),
    signIn: (credential, options = {}) =>
      transport.json({
        ...{ method: 'POST', path: pathOf('sign-in'), body: { credential }, ...options },
        // A person waits for the answer, and each attempt counts.
        tellsRefusals: true,
      }),
    signOut: (options = {}) =>
      transport.json({ method: 'POST', path: pathOf('sign-out'), ...options }),
    health: (options = {}) => transport.json({ method: 'GET', path: pathOf('health'), ...options }),
    readiness: (options = {}) => readinessOf(transport, options),
  };
}

async function readinessOf({ options }: Transport, { signal }: CallOptions): Promise<Readiness> {
  const url = `${options.url}${pathOf('ready')}`;
  const response = await options.fetch(url, { ...defined({ signal }) });
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  // 503 is an answer here, unless something before the server gave it.
  if (isJson && (response.ok || response.status === 503))
    return (await response.json()) as Readiness;
  throw await problemOf(response, options.ports.clock.now());
}

function agentsOf(transport: Transport): Agents {
  return {
    list: async (options = {}) => {
      const { agents } = await transport.json<{ agents: readonly ServerAgent[] }>({
        method: 'GET',
        path: pathOf('agents'),
        ...options,
      });
      return agents;
    },
    get: (name, options = {}) =>
      transport.json({ method: 'GET', path: pathOf('agents', name), ...options }),
  };
}

function usageOf(transport: Transport): UsageOfModels {
  const page: UsageOfModels['page'] = (query = {}, options = {}) =>
    transport.json({ method: 'GET', path: pathOf('usage'), query, ...options });
  return {
    page,
    list: (query = {}, options = {}) =>
      new Listing('sessions', (cursor) => page({ ...query, cursor }, options)),
    tools: (query = {}, options = {}) =>
      transport.json({ method: 'GET', path: pathOf('usage', 'tools'), query, ...options }),
  };
}
