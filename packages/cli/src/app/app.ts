import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Agent,
  type JsonValue,
  type Runtime,
  rehearsal,
  runtime,
  type Session,
} from 'adjutant';
import { SessionNotFoundError } from 'adjutant/errors';
import type { Engine } from 'adjutant/ports';
import { sqlite } from 'adjutant/sqlite';
import { defined } from 'adjutant/text';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { readableStorePath, writableStorePath } from '../host/store-location.ts';
import { notice } from '../output/notice.ts';
import type { ServedApp } from '../output/serving.ts';
import { askBeforeKey, askedBefore, assistant } from './agent.ts';
import { chooseModel, standInNotice } from './model-choice.ts';
import type { SessionMemory } from './session-memory.ts';

/** Name of the app whose sessions are used, unless `--app` names another. */
const defaultApp = 'adjutant';

export interface StoreOptions {
  readonly store?: string;
  /** Name of the app that owns the sessions. @default 'adjutant' */
  readonly app?: string;
}

export interface AgentOptions extends StoreOptions {
  readonly model?: string;
  readonly root?: string;
  /** Tools that wait for approval. @default those of the session's state */
  readonly askBefore?: readonly string[];
}

export interface AgentApp {
  readonly app: Runtime;
  readonly agent: Agent;
  /** Facts that its sessions remember. */
  readonly memory: SessionMemory;
  /** True when no model is set up, and the rehearsal model stands in. */
  readonly isStandIn: boolean;
  /** Reports on stderr that the rehearsal model stands in, if it does. */
  readonly announceStandIn: () => void;
}

/**
 * Opens the app with its agent to serve it. The app continues runs that stopped. Its sessions wait
 * for approval of `askBefore`, unless their state names other tools.
 * @param engine @default the embedded one
 */
export async function openServedApp(
  host: Host,
  options: AgentOptions,
  engine?: Engine,
): Promise<ServedApp> {
  const askBefore = options.askBefore === undefined ? [] : askedBefore(options.askBefore);
  const root = rootFolder(host, options);
  const { model, isStandIn } = chooseModel(options.model, host.env);
  await model.load();
  const path = writableStorePath(host, options.store);
  // API keys may be of any tenant.
  const app = runtime({
    app: appOf(options),
    store: sqlite(path),
    runnables: [assistant(model, root, askBefore)],
    tenants: true,
    ...defined({ engine }),
  });
  const announce = (): void => {
    if (isStandIn) notice(host, standInNotice);
    notice(host, `Whoever may call can have files below ${root} read.`);
  };
  return { app, store: path, announce };
}

/** Path of the folder that the agent may read. @throws UsageError */
function rootFolder(host: Host, options: AgentOptions): string {
  const root = resolve(host.cwd, options.root ?? '.');
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory()) return root;
  throw new UsageError({ reason: `--root: ${root} is not a folder.` });
}

/**
 * Opens the app with its agent, ready to run. A fault of the model or the folder is reported before
 * a session is touched.
 */
export async function openAgentApp(host: Host, options: AgentOptions): Promise<AgentApp> {
  if (options.askBefore !== undefined) askedBefore(options.askBefore);
  const root = rootFolder(host, options);
  const { model, isStandIn } = chooseModel(options.model, host.env);
  await model.load();
  const agent = assistant(model, root);
  // A command works only on its own session, so the app recovers no others.
  const app = runtime({
    app: appOf(options),
    store: sqlite(writableStorePath(host, options.store)),
    runnables: [agent],
    recover: 'manual',
  });
  const announceStandIn = (): void => {
    if (isStandIn) notice(host, standInNotice);
  };
  const named = options.model ?? host.env['ADJUTANT_MODEL'];
  const name = named || `${model.provider}:${model.modelId}`;
  const memory = { root, ...(isStandIn ? {} : { model: name }) };
  return { app, agent, memory, isStandIn, announceStandIn };
}

/** Opens the app to read its ledgers and post to them. `undefined`: there is no store yet. */
export function openLedgers(host: Host, options: StoreOptions): Runtime | undefined {
  const path = readableStorePath(host, options.store);
  if (path === undefined) return undefined;
  // The agent is needed to check answers; its model is not called.
  return runtime({
    app: appOf(options),
    store: sqlite(path),
    runnables: [assistant(rehearsal(), host.cwd)],
    recover: 'manual',
  });
}

/** Records in the session's state which tools wait for approval, if the options name any. */
export async function rememberAskBefore(
  session: Session,
  { askBefore }: AgentOptions,
): Promise<void> {
  if (askBefore === undefined) return;
  session.state[askBeforeKey] = askedBefore(askBefore) as JsonValue;
  await session.flush();
}

export interface LookOptions {
  /** Opens the session for reading only: nothing is written to it. @default false */
  readonly onlyLook?: boolean;
}

/** Opens a session that must exist. @throws SessionNotFoundError */
export async function existingSession(
  app: Runtime,
  id: string,
  { onlyLook = false }: LookOptions = {},
): Promise<Session> {
  const session = await app.sessions.open({ id, observe: !onlyLook });
  if (session.events.length === 0) throw new SessionNotFoundError({ session: id, app: app.app });
  return session;
}

/** Message for a store without sessions of the app. */
export function noSessions({ app }: Pick<Runtime, 'app'>): string {
  return `There are no sessions of the app "${app}" in this store. --app names another one.`;
}

function appOf({ app = defaultApp }: StoreOptions): string {
  return app;
}
