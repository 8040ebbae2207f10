import { isAdjutantError, type Runnable, type Session } from 'adjutant';
import { defined } from 'adjutant/text';
import { carryOut, type RunContext } from '../actions/carry-out.ts';
import { rememberAskBefore } from '../app/app.ts';
import { chosenAgent } from '../app/chosen-agent.ts';
import { sessionToGoOn } from '../app/named-session.ts';
import { laneOf } from '../app/open-run.ts';
import { openProject, type Project } from '../app/project.ts';
import { notice } from '../output/notice.ts';
import type { LineChat, LineDecision } from './line-chat.ts';

/** Opens a chat with an agent of this machine. */
export async function openLocalLines(
  context: RunContext,
  named: string | undefined,
): Promise<LineChat> {
  const { host, options } = context;
  const project = await openProject(host, options, { session: named });
  try {
    const id = named === undefined ? undefined : await sessionToGoOn(project, named);
    const agent = await chosenAgent(host, project, { agent: options.agent, session: id });
    const session = await project.app.sessions.open(defined({ id }));
    await project.check(agent, session);
    await project.remember(session);
    await rememberAskBefore(session, options);
    project.announce(agent);
    return openLines(context, { project, agent, session });
  } catch (error) {
    await project.close();
    throw error;
  }
}

/** Opens a chat in a session of a project. */
export function openLines(context: RunContext, opened: Opened): LineChat {
  return new LocalLineChat(context, opened);
}

interface Opened {
  readonly project: Project;
  readonly agent: Runnable;
  readonly session: Session;
}

class LocalLineChat implements LineChat {
  readonly #context: RunContext;
  readonly #project: Project;
  readonly #agent: Runnable;
  readonly #ofLane: { readonly lane?: string };
  #session: Session;

  constructor(context: RunContext, { project, agent, session }: Opened) {
    this.#context = context;
    this.#project = project;
    this.#agent = agent;
    this.#session = session;
    this.#ofLane = defined({ lane: context.options.lane });
  }

  get session(): string | undefined {
    return this.#session.events.length > 0 ? this.#session.id : undefined;
  }

  async say(input: string): Promise<number> {
    const { app } = this.#project;
    const session = await this.#reopened();
    return carryOut(this.#context, session, (options) =>
      app.run(this.#agent, { ...options, ...this.#ofLane, input, session }),
    );
  }

  async decide(decision: LineDecision): Promise<number | undefined> {
    const { app } = this.#project;
    const session = await this.#reopened();
    if (!(await this.#answer(session, decision))) return undefined;
    return carryOut(this.#context, session, (options) =>
      app.resume(session, { ...options, ...this.#ofLane }),
    );
  }

  close(): Promise<void> {
    return this.#project.close();
  }

  /** Another process may have continued the session meanwhile. */
  async #reopened(): Promise<Session> {
    this.#session = await this.#project.app.sessions.open({ id: this.#session.id });
    return this.#session;
  }

  /** Answers the oldest request of the lane. Returns true when the run can go on. */
  async #answer(session: Session, answer: LineDecision): Promise<boolean> {
    const { lane } = this.#ofLane;
    const asked = session.pendingYieldingCalls.find(
      ({ accepted, request, invocationId }) =>
        !accepted &&
        request.options.includes(answer.decision) &&
        laneOf(session.events, invocationId) === lane,
    );
    if (asked === undefined) return false;
    try {
      await this.#project.app.requests.answer(asked.requestId, answer);
    } catch (error) {
      if (!isAdjutantError(error, 'request_settled')) throw error;
      // The request was answered elsewhere or has expired: the run goes on with that.
      notice(this.#context.host, error.message);
    }
    return true;
  }
}
