import { homedir } from 'node:os';
import { resolve } from 'node:path';
import {
  type Agent,
  isAdjutantError,
  parseModelName,
  type Runnable,
  type Session,
  type SessionListing,
} from 'adjutant';
import { modelFacts } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import { commandLine, type RunContext } from '../../actions/carry-out.ts';
import { modelOf, partsOf } from '../../app/agents.ts';
import { rememberAskBefore } from '../../app/app.ts';
import { chosenAgent } from '../../app/chosen-agent.ts';
import { offeredModels } from '../../app/model-catalogue.ts';
import { namedSession, projectSessions, sessionToGoOn } from '../../app/named-session.ts';
import { holderNow, openRunOf } from '../../app/open-run.ts';
import { openProject, type Project } from '../../app/project.ts';
import { memoryIn, modelOfNextRun, projectFolder } from '../../app/session-memory.ts';
import { UsageError } from '../../failure.ts';
import { dataFolder } from '../../host/data-folder.ts';
import { modelsOfOllama } from '../../init/models.ts';
import type { TextFiles } from '../app/kept-texts.ts';
import { draftPath } from '../history/drafts.ts';
import { historyPath } from '../history/history.ts';
import { askModel } from './ask-model.ts';
import type { Conversation } from './conversation.ts';
import { LocalConversation } from './local-conversation.ts';
import type { StartQuestions } from './start-questions.ts';
import { UnreadableConversation } from './unreadable-conversation.ts';
import {
  type AgentOutline,
  chatWords,
  type ModelOutline,
  type OpenedWorkplace,
  type SessionExtent,
  toolFacts,
  type WaitingRequest,
  type Workplace,
} from './workplace.ts';

/** Sessions that a list shows. */
const listed = 200;

/** Opens the app that the options mean, and the agent that is to answer. */
export async function openLocalWorkplace(
  context: RunContext,
  named: string | undefined,
  questions: StartQuestions,
): Promise<OpenedWorkplace> {
  const { host, options } = context;
  const project = await openWithModel(context, named, questions);
  const session = named === undefined ? undefined : await sessionToGoOn(project, named);
  const wish = { agent: options.agent, session };
  const agent = await chosenAgent(host, project, wish, (agents) =>
    questions.ask(
      'Which agent is to answer?',
      agents.map((one) => ({ words: one.name, more: one.description, value: one })),
    ),
  );
  return { workplace: new LocalWorkplace(context, project, agent), session };
}

/** Opens the app. Where a new session would have no model, a person is asked for one. */
async function openWithModel(
  { host, options }: RunContext,
  session: string | undefined,
  questions: StartQuestions,
): Promise<Project> {
  const project = await openProject(host, options, { session });
  if (project.isStandIn !== true || session !== undefined) return project;
  const answer = await askModel(questions, host, options);
  if (answer.kind === 'rehearse') return project;
  await project.close();
  return openProject(host, answer.kind === 'named' ? { ...options, model: answer.model } : options);
}

/** The sessions of a store of this machine. */
export class LocalWorkplace implements Workplace {
  readonly onLeave = 'stops';
  readonly #context: RunContext;
  readonly #project: Project;
  #agent: Runnable;
  /** Model that was chosen in the place of the agent's own. */
  #model: string | undefined;

  constructor(context: RunContext, project: Project, agent: Runnable) {
    this.#context = context;
    this.#project = project;
    this.#agent = agent;
  }

  get title(): string {
    const { model } = this.agent;
    return [this.#project.who(this.#agent), ...(model === undefined ? [] : [model])].join(' · ');
  }

  get facts(): readonly string[] {
    const { tools = [] } = this.#agent as Partial<Agent>;
    return toolFacts(tools.length, tools.filter(({ approval }) => approval !== undefined).length);
  }

  get agents(): readonly AgentOutline[] {
    return this.#project.agents.map(outlineOf);
  }

  get agent(): AgentOutline {
    const outline = outlineOf(this.#agent);
    return outline.kind === 'agent' && this.#model !== undefined
      ? { ...outline, model: this.#model }
      : outline;
  }

  async listModels(): Promise<readonly ModelOutline[]> {
    const own = modelOf(this.#agent);
    const given = [this.agent.model, own].filter((name) => name !== undefined);
    return offeredModels(given, await modelsOfOllama(), this.#context.host.env);
  }

  async chooseModel(name: string): Promise<void> {
    if (this.#agent.kind !== 'agent')
      throw new UsageError({ reason: `${this.#agent.name} is no agent with a model of its own.` });
    if (name !== modelOf(this.#agent)) await parseModelName(name, this.#context.host.env).load();
    this.#model = name === modelOf(this.#agent) ? undefined : name;
  }

  set agent({ name }: AgentOutline) {
    this.#agent = this.#project.agents.find((one) => one.name === name) ?? this.#agent;
  }

  get texts(): TextFiles {
    const { env, platform, cwd } = this.#context.host;
    const { app, configured, place } = this.#project;
    const data = dataFolder(env, platform, homedir());
    const folder = projectFolder(cwd);
    const store = JSON.stringify([configured?.file, place.store, app.app]);
    return {
      history: historyPath(data, folder),
      draft: (session) => draftPath(data, store, session ?? `a new session in ${folder}`),
    };
  }

  async open(id?: string): Promise<Conversation> {
    const { app } = this.#project;
    try {
      return this.#conversationIn(await app.sessions.open(defined({ id })));
    } catch (error) {
      if (id === undefined || !isAdjutantError(error, 'ledger_unreadable')) throw error;
      return new UnreadableConversation(app, id, error);
    }
  }

  #conversationIn(session: Session): Conversation {
    const { app } = this.#project;
    const { options } = this.#context;
    this.#model = modelOfNextRun(session, this.#agent, false).model;
    return new LocalConversation({
      app,
      session,
      lane: options.lane,
      agent: () => this.#agent,
      onResult: this.#context.onResult,
      runOptions: (present) =>
        openRunOf(present, options.lane) === undefined && this.#agent.kind === 'agent'
          ? defined({ model: this.#model })
          : {},
      prepare: async (prepared) => {
        if (this.#model === undefined) await this.#project.check(this.#agent, prepared);
        // The agent's own model is remembered in the place of one that was chosen before.
        const isChosen = memoryIn(prepared.events).model !== undefined;
        const own = isChosen ? modelOf(this.#agent) : undefined;
        await this.#project.remember(prepared, this.#model ?? own);
        await rememberAskBefore(prepared, options);
      },
    });
  }

  async listSessions(
    words: string,
    extent: SessionExtent = 'project',
  ): Promise<readonly SessionListing[]> {
    const { app } = this.#project;
    const pool = extent === 'all' ? { app } : this.#project;
    const sessions = await projectSessions(pool, { limit: listed });
    const wanted = words.toLowerCase();
    return sessions.filter(({ id, title = '' }) => `${title} ${id}`.toLowerCase().includes(wanted));
  }

  listRequests(): Promise<readonly WaitingRequest[]> {
    return this.#project.app.requests.list({ status: 'pending', limit: listed });
  }

  async deleteSession(id: string): Promise<void> {
    await this.#project.app.sessions.delete(id);
  }

  async exportSession(id: string, file = `${id}.json`): Promise<string> {
    const { exportLedger, writeLedgerFile } = await import('adjutant/replay');
    const path = resolve(this.#context.host.cwd, file);
    const session = await this.#project.app.sessions.open({ id, observe: false });
    await writeLedgerFile(path, await exportLedger(session));
    return path;
  }

  findSession(named: string): Promise<string> {
    return namedSession(this.#project, named);
  }

  async holder(id: string): Promise<string | undefined> {
    try {
      return await holderNow(await this.#project.app.sessions.open({ id, observe: false }));
    } catch (error) {
      if (isAdjutantError(error, 'ledger_unreadable')) return undefined;
      throw error;
    }
  }

  commandFor(session: string | undefined): string | undefined {
    const { hasCommands, options } = this.#context;
    if (hasCommands === false) return undefined;
    const words = chatWords(session, options.lane);
    return commandLine(words, { ...options, ...this.#project.place });
  }

  close(): Promise<void> {
    return this.#project.close();
  }
}

function outlineOf(runnable: Runnable): AgentOutline {
  const { kind, name, description, limits } = runnable as Runnable & Pick<AgentOutline, 'limits'>;
  const model = modelOf(runnable);
  return {
    ...{ kind, name, readingTools: [...readingTools(runnable)] },
    ...defined({ description, model, limits, contextWindow: windowOf(runnable) }),
  };
}

/** Context window of the model of an agent. A model of another kind tells none. */
function windowOf(runnable: Runnable): number | undefined {
  if (runnable.kind !== 'agent') return undefined;
  const { model } = runnable as Agent;
  return 'settings' in model ? modelFacts(model).contextWindow : undefined;
}

/** Names of the tools of a runnable and its parts that change nothing outside. */
function readingTools(of: Runnable, seen = new Set<Runnable>()): ReadonlySet<string> {
  if (seen.has(of)) return new Set();
  seen.add(of);
  const { tools = [] } = of as Partial<Agent>;
  const own = tools.filter(({ readOnly }) => readOnly).map(({ name }) => name);
  return new Set([...own, ...partsOf(of).flatMap((part) => [...readingTools(part, seen)])]);
}
