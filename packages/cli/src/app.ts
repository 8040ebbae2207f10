import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Agent, type Model, type Runtime, runtime, type Session, SessionNotFoundError } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { assistant } from './agent.ts';
import { UsageError } from './failure.ts';
import type { Host } from './host.ts';
import { chooseModel, standInNotice } from './model-choice.ts';
import { notice } from './output/notice.ts';
import { readableStorePath, writableStorePath } from './store-location.ts';

/** Name space of the sessions in their store, unless `--app` names another. */
const defaultApp = 'adjutant';

export interface StoreOptions {
  readonly store?: string;
  /** Whose sessions. @default 'adjutant' */
  readonly app?: string;
}

export interface AgentOptions extends StoreOptions {
  readonly model?: string;
  readonly root?: string;
}

export interface AgentApp {
  readonly app: Runtime;
  readonly agent: Agent;
  readonly model: Model;
  /** Says on stderr that the rehearsal model stands in, if it does. */
  readonly announceStandIn: () => void;
}

/** Opens the app with its agent, ready to run. What is wrong with model or folder is said before a session is touched. */
export async function openAgentApp(host: Host, options: AgentOptions): Promise<AgentApp> {
  const root = resolve(host.cwd, options.root ?? '.');
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError({ reason: `--root: ${root} is not a folder.` });
  const { model, isStandIn } = chooseModel(options.model, host.env);
  await model.load();
  const agent = assistant(model, root);
  const app = runtime({ app: appOf(options), store: sqlite(writableStorePath(host, options.store)), runnables: [agent] });
  const announceStandIn = (): void => {
    if (isStandIn) notice(host, standInNotice);
  };
  return { app, agent, model, announceStandIn };
}

/** Opens the app for looking at its ledgers; `undefined` when there is no store yet. */
export function openLedgers(host: Host, options: StoreOptions): Runtime | undefined {
  const path = readableStorePath(host, options.store);
  return path === undefined ? undefined : runtime({ app: appOf(options), store: sqlite(path) });
}

/** A session that must exist; nothing is written. @throws SessionNotFoundError */
export async function existingSession(app: Runtime, id: string, options: StoreOptions): Promise<Session> {
  const session = await app.session({ id });
  if (session.events.length === 0) throw new SessionNotFoundError({ session: id, app: appOf(options) });
  return session;
}

/** What to say when a store has no sessions of the app. */
export function noSessions(options: StoreOptions): string {
  return `There are no sessions of the app "${appOf(options)}" in this store. --app names another one.`;
}

function appOf({ app = defaultApp }: StoreOptions): string {
  return app;
}
