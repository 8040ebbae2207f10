import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { AdjutantClient, ServerAgent } from '@adjutant/server/client';
import type { SessionListing } from 'adjutant';
import { defined } from 'adjutant/text';
import { openClient } from '../../access/open-client.ts';
import { listingOf } from '../../access/server-access.ts';
import { answeringAgent, type RemoteContext } from '../../access/server-run.ts';
import { eventsOf, namedOnServer, sessionOf } from '../../access/server-session.ts';
import { commandLine } from '../../actions/carry-out.ts';
import { canBegin } from '../../app/named-session.ts';
import { UsageError } from '../../failure.ts';
import { dataFolder } from '../../host/data-folder.ts';
import type { TextFiles } from '../app/kept-texts.ts';
import { draftPath } from '../history/drafts.ts';
import { historyPath } from '../history/history.ts';
import type { Conversation } from './conversation.ts';
import { ServerConversation } from './server-conversation.ts';
import {
  type AgentOutline,
  chatWords,
  type ModelOutline,
  type OpenedWorkplace,
  toolFacts,
  type WaitingRequest,
  type Workplace,
} from './workplace.ts';

/** Sessions that a list shows. */
const listed = 200;

/** Opens the server of the options, and the agent that is to answer. */
export async function openServerWorkplace(
  context: RemoteContext,
  named: string | undefined,
): Promise<OpenedWorkplace> {
  const { host, options } = context;
  const client = await openClient(host, options);
  const agents = await client.agents.list();
  const session = named === undefined ? undefined : await namedOnServer(client, named, canBegin);
  const agent = await answeringAgent(client, agents, { ...options, session });
  return { workplace: new ServerWorkplace(context, client, agents, agent), session };
}

/** The sessions of a server. */
class ServerWorkplace implements Workplace {
  readonly onLeave = 'goesOn';
  readonly #context: RemoteContext;
  readonly #client: AdjutantClient;
  readonly #agents: readonly ServerAgent[];
  #agent: ServerAgent;

  constructor(
    context: RemoteContext,
    client: AdjutantClient,
    agents: readonly ServerAgent[],
    agent: ServerAgent,
  ) {
    this.#context = context;
    this.#client = client;
    this.#agents = agents;
    this.#agent = agent;
  }

  get title(): string {
    return `${this.#agent.kind} ${this.#agent.name} at ${this.#context.options.server}`;
  }

  get facts(): readonly string[] {
    const { tools = [] } = this.#agent;
    return toolFacts(tools.length, tools.filter(({ approval }) => approval !== 'never').length);
  }

  get agents(): readonly AgentOutline[] {
    return this.#agents.map(outlineOf);
  }

  get agent(): AgentOutline {
    return outlineOf(this.#agent);
  }

  set agent({ name }: AgentOutline) {
    this.#agent = this.#agents.find((one) => one.name === name) ?? this.#agent;
  }

  async listModels(): Promise<readonly ModelOutline[]> {
    return [];
  }

  async chooseModel(): Promise<void> {
    const reason = 'The server decides which model answers: its app names it. Nothing was changed.';
    throw new UsageError({ reason });
  }

  get texts(): TextFiles {
    const { env, platform } = this.#context.host;
    const { server } = this.#context.options;
    const data = dataFolder(env, platform, homedir());
    return {
      history: historyPath(data, server),
      draft: (session) => draftPath(data, server, session ?? 'a new session'),
    };
  }

  async open(session?: string): Promise<Conversation> {
    const { lane } = this.#context.options;
    const agent = (): string => this.#agent.name;
    return new ServerConversation({ client: this.#client, session, lane, agent });
  }

  async listSessions(words: string): Promise<readonly SessionListing[]> {
    const { sessions } = await this.#client.sessions.list({ limit: listed }).page();
    const wanted = words.toLowerCase();
    return sessions
      .filter(({ id, title = '' }) => `${title} ${id}`.toLowerCase().includes(wanted))
      .map(listingOf);
  }

  async listRequests(): Promise<readonly WaitingRequest[]> {
    return (await this.#client.approvals.list({ limit: listed }).page()).requests;
  }

  async deleteSession(id: string): Promise<void> {
    await this.#client.sessions.delete(id);
  }

  async exportSession(id: string, file = `${id}.json`): Promise<string> {
    const { exportLedger, writeLedgerFile } = await import('adjutant/replay');
    const path = resolve(this.#context.host.cwd, file);
    const session = await sessionOf(id, await eventsOf(this.#client, id));
    await writeLedgerFile(path, await exportLedger(session));
    return path;
  }

  async findSession(named: string): Promise<string> {
    const { id } = await this.#client.sessions.get(await namedOnServer(this.#client, named));
    return id;
  }

  /** A server goes on with its open runs by itself. */
  async holder(): Promise<string> {
    return 'the server';
  }

  commandFor(session: string | undefined): string {
    const { options } = this.#context;
    return commandLine(chatWords(session, options.lane), options);
  }

  async close(): Promise<void> {
    // The client keeps nothing open.
  }
}

function outlineOf({ kind, name, description }: ServerAgent): AgentOutline {
  return { kind, name, ...defined({ description }) };
}
