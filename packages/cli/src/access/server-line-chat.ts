import { type AdjutantClient, isServerProblem } from '@adjutant/server/client';
import { defined } from 'adjutant/text';
import { canBegin } from '../app/named-session.ts';
import { laneOf, runOf } from '../app/open-run.ts';
import { notice } from '../output/notice.ts';
import type { LineChat, LineDecision } from './line-chat.ts';
import { openClient } from './open-client.ts';
import { answeringAgent, type RemoteContext, startedRun } from './server-run.ts';
import { eventsOf, namedOnServer } from './server-session.ts';
import { showRun } from './show-server-run.ts';

/** Opens a chat with an agent of a server. */
export async function openServerLines(
  context: RemoteContext,
  named: string | undefined,
): Promise<LineChat> {
  const { host, options } = context;
  const client = await openClient(host, options);
  const session = named === undefined ? undefined : await namedOnServer(client, named, canBegin);
  const wish = { ...options, session };
  const { name } = await answeringAgent(client, await client.agents.list(), wish);
  notice(host, `agent ${name} at ${options.server}`);
  return new ServerLineChat(context, { client, agent: name, session });
}

interface Opened {
  readonly client: AdjutantClient;
  readonly agent: string;
  readonly session: string | undefined;
}

class ServerLineChat implements LineChat {
  readonly #context: RemoteContext;
  readonly #client: AdjutantClient;
  readonly #agent: string;
  #session: string | undefined;

  constructor(context: RemoteContext, { client, agent, session }: Opened) {
    this.#context = context;
    this.#client = client;
    this.#agent = agent;
    this.#session = session;
  }

  get session(): string | undefined {
    return this.#session;
  }

  say(input: string): Promise<number> {
    const { lane } = this.#context.options;
    return showRun(this.#context, this.#client, async () => {
      const asked = { agent: this.#agent, input, ...defined({ session: this.#session, lane }) };
      const run = await startedRun(this.#client, asked);
      this.#session = run.session;
      return run;
    });
  }

  async decide(answer: LineDecision): Promise<number | undefined> {
    const session = this.#session;
    if (session === undefined) return undefined;
    const { host, options } = this.#context;
    const before = await eventsOf(this.#client, session);
    for await (const { requestId, invocationId, options: offered } of this.#client.approvals.list({
      session,
    })) {
      if (!offered.includes(answer.decision)) continue;
      if (laneOf(before, invocationId) !== options.lane) continue;
      return showRun(this.#context, this.#client, async () => {
        try {
          await this.#client.approvals.answer(requestId, answer);
        } catch (error) {
          if (!isServerProblem(error, 'request_settled')) throw error;
          notice(host, error.message);
        }
        return { session, run: runOf(invocationId), before };
      });
    }
    return undefined;
  }

  async close(): Promise<void> {
    // The client keeps nothing open.
  }
}
