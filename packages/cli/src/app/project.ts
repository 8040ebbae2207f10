import { type Runnable, type Runtime, runtime, type Session } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { defined } from 'adjutant/text';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { isStored, readableStorePath } from '../host/store-location.ts';
import type { ConfigOptions } from '../modules/find-config.ts';
import { type ConfiguredApp, loadApp, shownName } from '../modules/load-module.ts';
import { notice } from '../output/notice.ts';
import { agentsOf, isRunnable } from './agents.ts';
import { type AgentOptions, openAgentApp, openLedgers, type StoreOptions } from './app.ts';
import { checkModels } from './model-check.ts';
import { sessionToGoOn } from './named-session.ts';
import {
  type MemoryPlace,
  memoryIn,
  projectFolder,
  refuseRehearsal,
  remember,
  rememberedModel,
  rememberModel,
} from './session-memory.ts';

/** Flags of a command line that say which app and which agent are meant. */
export interface ProjectFlags extends AgentOptions, ConfigOptions {
  /** Name of the runnable. @default the only one that a goal can be given */
  readonly agent?: string;
}

/** The app that a command works with: that of a configuration, else that of the command line. */
export interface Project {
  readonly app: Runtime;
  /** Module that exports the app. `undefined`: the app of the command line. */
  readonly configured: ConfiguredApp | undefined;
  /** Runnables that a goal can be given; parts of others are not among them. */
  readonly agents: readonly Runnable[];
  /** Options with which another command finds the same app from the same folder. */
  readonly place: StoreOptions & ConfigOptions;
  /** Returns a runnable by its name, also one that is part of another. */
  find(name: string): Runnable | undefined;
  /** The app and the agent in words: `app shop, agent coder (adjutant.config.ts)`. */
  who(agent: Runnable): string;
  /** True when no model is set up, and the rehearsal model stands in. @default false */
  readonly isStandIn?: boolean;
  /** Folder of the project whose sessions are meant. `undefined`: all of the store. */
  readonly folder?: string;
  /**
   * Checks that a runnable can go on in a session: that its models have their keys, and that the
   * rehearsal model does not stand in for another one.
   * @throws UnusableModelError, UsageError
   */
  check(agent: Runnable, session: Session): Promise<void>;
  /**
   * Records in a session what another process needs to go on with it.
   * @param model name of a model that was chosen in the place of the agent's own
   */
  remember(session: Session, model?: string): Promise<void>;
  /** Reports on stderr who answers. */
  announce(agent: Runnable): void;
  close(): Promise<void>;
}

export interface OpeningOptions extends MemoryPlace {
  /** True for a command on a session that must exist, which makes no store. @default false */
  readonly mustExist?: boolean;
}

/**
 * Opens the app that the flags mean, to run its agents. A fault of the configuration, of a model or
 * of a folder is reported before a session is touched.
 * @throws UsageError, InvalidConfigError, MissingKeyError
 */
export async function openProject(
  host: Host,
  flags: ProjectFlags,
  { mustExist = false, ...place }: OpeningOptions = {},
): Promise<Project> {
  const configured = await loadApp(host, flags);
  if (configured !== undefined) {
    refuseBuiltInFlags(configured, flags);
    return configuredProject(host, configured, flags);
  }
  if (mustExist && readableStorePath(host, flags.store) === undefined) throw noSessionsYet();
  return builtInProject(host, { ...flags, ...(await recalled(host, flags, place)) }, flags);
}

/**
 * Opens the agent of the command line. @param given the flags without what a session remembers
 */
async function builtInProject(
  host: Host,
  flags: ProjectFlags,
  given: ProjectFlags,
): Promise<Project> {
  const { app, agent, memory, isStandIn, announceStandIn } = await openAgentApp(host, flags);
  return {
    app,
    configured: undefined,
    agents: [agent],
    place: placeOf(given),
    ...folderOf(host, given),
    find: (name) => (name === agent.name ? agent : undefined),
    who: whoOf,
    check: async (_agent, session) => {
      if (given.model === undefined) await refuseRehearsal(session, agent, host);
    },
    remember: (session, model) =>
      remember(session, { ...memory, ...defined({ model }), folder: projectFolder(host.cwd) }),
    isStandIn,
    announce: announceStandIn,
    close: () => closeQuietly(app),
  };
}

/** Returns the model and the folder that a session remembers, but for those that flags name. */
async function recalled(
  host: Host,
  flags: ProjectFlags,
  { session, request }: MemoryPlace,
): Promise<Pick<AgentOptions, 'model' | 'root'>> {
  const isNamed = session !== undefined || request !== undefined;
  const app = isNamed && isStored(host, flags.store) ? openLedgers(host, flags) : undefined;
  if (app === undefined) return {};
  try {
    const named =
      request === undefined
        ? await sessionToGoOn({ app, ...folderOf(host, flags) }, session as string)
        : (await app.requests.get(request)).session;
    const { events } = await app.sessions.open({ id: named, observe: false });
    const model = flags.model ?? rememberedModel(events, host);
    return defined({ model, root: flags.root ?? memoryIn(events).root });
  } finally {
    await closeQuietly(app);
  }
}

/** Folder whose sessions are meant: that of the project, in the store that all folders share. */
function folderOf(host: Host, { store, app }: StoreOptions): { readonly folder?: string } {
  return store === undefined && app === undefined ? { folder: projectFolder(host.cwd) } : {};
}

/**
 * Opens the same app to read its ledgers and to post to them. `--store` names another store for it,
 * whose runs it does not continue. `undefined`: the command line has no store yet.
 */
export async function openReader(host: Host, flags: ProjectFlags): Promise<Project | undefined> {
  const configured = await loadApp(host, flags);
  const project = readerOf(host, flags, configured);
  if (project?.app !== configured?.app) await configured?.app.close().catch(() => undefined);
  return project;
}

/** Returns the same for a configuration that is loaded. It stays open. */
export function readerOf(
  host: Host,
  flags: ProjectFlags,
  configured: ConfiguredApp | undefined,
): Project | undefined {
  if (configured !== undefined && flags.store === undefined) {
    refuseOtherApp(configured, flags);
    return configuredProject(host, configured, flags);
  }
  const app =
    configured === undefined ? openLedgers(host, flags) : otherStore(host, configured, flags);
  if (app === undefined) return undefined;
  return {
    app,
    configured,
    agents: app.runnables,
    place:
      configured === undefined
        ? placeOf(flags)
        : { ...placeOf(flags), app: app.app, config: false },
    find: (name) => app.runnables.find((one) => one.name === name),
    ...(configured === undefined ? folderOf(host, flags) : {}),
    who: whoOf,
    check: async () => undefined,
    remember: async () => undefined,
    announce: () => undefined,
    close: () => closeQuietly(app),
  };
}

/** Opens the same app for a command that needs a store. @throws UsageError when there is none */
export async function openExisting(host: Host, flags: ProjectFlags): Promise<Project> {
  const project = await openReader(host, flags);
  if (project === undefined) throw noSessionsYet();
  return project;
}

function noSessionsYet(): UsageError {
  return new UsageError({ reason: 'There are no sessions yet.' });
}

/** Opens a project, and closes it when the work is done. */
export async function withProject<Opened extends Project | undefined, Result>(
  opening: Promise<Opened>,
  use: (project: Opened) => Promise<Result>,
): Promise<Result> {
  const project = await opening;
  try {
    return await use(project);
  } finally {
    await project?.close();
  }
}

function whoOf(this: Project, { kind, name }: Runnable): string {
  const owner = this.configured;
  return owner === undefined
    ? `built-in agent ${name}`
    : `app ${this.app.app}, ${kind} ${name} (${shownName(owner)})`;
}

function configuredProject(host: Host, configured: ConfiguredApp, flags: ProjectFlags): Project {
  const { app } = configured;
  const own = exportedRunnable(configured);
  const known = (): readonly Runnable[] => [...(own === undefined ? [] : [own]), ...app.runnables];
  const project: Project = {
    app,
    configured,
    agents: [...new Set([...(own === undefined ? [] : [own]), ...agentsOf(app.runnables)])],
    place: defined({ config: flags.config }),
    find: (name) => known().find((one) => one.name === name),
    who: whoOf,
    check: async (agent, session) => {
      await checkModels(agent, configured);
      await refuseRehearsal(session, agent, host);
    },
    remember: rememberModel,
    announce: (agent) => notice(host, project.who(agent)),
    close: () => closeQuietly(app),
  };
  return project;
}

/** Name of the file that the app comes from, for people. */
export function ownerOf({ configured }: Project): string {
  return configured === undefined ? 'the command line' : shownName(configured);
}

/** Returns the `runnable` that a configuration exports, by its name or in its default export. */
export function exportedRunnable({ exports }: ConfiguredApp): Runnable | undefined {
  const { runnable } = { ...exports, ...(exports['default'] ?? {}) } as { runnable?: unknown };
  return isRunnable(runnable) ? runnable : undefined;
}

/** @throws UsageError for flags that belong to the agent of the command line */
export function refuseBuiltInFlags(configured: ConfiguredApp, flags: AgentOptions): void {
  const { model, store, app, root, askBefore } = flags;
  const other = app === configured.app.app ? undefined : app;
  const [misplaced] =
    Object.entries({ model, store, app: other, root, 'ask-before': askBefore }).find(
      ([, value]) => value !== undefined,
    ) ?? [];
  if (misplaced === undefined) return;
  throw new UsageError({
    reason:
      `--${misplaced} is for the agent of the command line, and ${shownName(configured)} ` +
      'has an app of its own. Leave one of them out: --no-config leaves out the file.',
  });
}

/** @throws UsageError when the flags name another app than the configuration has */
function refuseOtherApp(configured: ConfiguredApp, { app }: StoreOptions): void {
  if (app === undefined || app === configured.app.app) return;
  throw new UsageError({
    reason:
      `--app ${app}: ${shownName(configured)} exports the app "${configured.app.app}". Name its ` +
      'store with --store, or leave the file out with --no-config.',
  });
}

/** Opens the app of a configuration on a store that a flag names, without its runnables. */
function otherStore(host: Host, configured: ConfiguredApp, flags: StoreOptions): Runtime {
  const path = readableStorePath(host, flags.store);
  if (path === undefined) throw noSessionsYet();
  const { app, tenant } = configured.app;
  return runtime({ app: flags.app ?? app, tenant, store: sqlite(path), recover: 'manual' });
}

function placeOf({ store, app, config }: ProjectFlags): StoreOptions & ConfigOptions {
  return defined({ store, app, config });
}

async function closeQuietly(app: Runtime): Promise<void> {
  await app.close().catch(() => undefined);
}
