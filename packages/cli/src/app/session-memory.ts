import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type Event,
  isAdjutantError,
  type JsonObject,
  parseModelName,
  type Runnable,
  type Runtime,
  type Session,
} from 'adjutant';
import { defined } from 'adjutant/text';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { configNames } from '../modules/find-config.ts';
import { modelOf } from './agents.ts';

/** Key of the session's state under which the command line remembers how it was used. */
const memoryKey = 'commandLine';
/** The memory is written before the first message, after at most this many other events. */
const firstEvents = 5;

/** Facts that a session of the agent of the command line remembers. */
export interface SessionMemory {
  /** Name of the model, as `--model` takes it. Missing when none was set up. */
  readonly model?: string;
  /** Folder that the file tools can see. */
  readonly root?: string;
  /** Folder of the project in which the session was begun. */
  readonly folder?: string;
}

/** Returns the memory that a ledger has. */
export function memoryIn(events: readonly Event[]): SessionMemory {
  for (const event of events.toReversed()) {
    if (event.type !== 'state_change' || event.scope !== 'session') continue;
    const value = event.changes.find(({ key }) => key === memoryKey)?.newValue;
    if (typeof value === 'object' && value !== null) return value as SessionMemory;
  }
  return {};
}

/** Returns the memory with which a stored session began, without opening the session. */
export async function memoryOf(app: Runtime, id: string): Promise<SessionMemory> {
  const events: Event[] = [];
  for await (const event of app.sessions.events(id, { upTo: firstEvents }))
    if (event.type !== 'unreadable') events.push(event);
  return memoryIn(events);
}

/**
 * Records the memory in the session's state, if it has changed. A session that another process
 * works on keeps its own.
 */
export async function remember(session: Session, memory: SessionMemory): Promise<void> {
  const before = memoryIn(session.events);
  const now = defined({ ...memory, folder: before.folder ?? memory.folder });
  if (JSON.stringify(before) === JSON.stringify(now)) return;
  if (!(await isFree(session))) return;
  // It is stored with the first event of the run.
  session.state[memoryKey] = now as JsonObject;
}

/** Records the model that was chosen for a session. `undefined`: none was. */
export async function rememberModel(session: Session, model: string | undefined): Promise<void> {
  if (model !== undefined) await remember(session, { ...memoryIn(session.events), model });
}

/**
 * Returns the model that was chosen for a session and is not the one of its agent: the option of
 * its next run. A run that is open keeps its own.
 */
export function modelOfNextRun(
  session: Pick<Session, 'events'>,
  agent: Runnable,
  isOpen: boolean,
): { readonly model?: string } {
  const { model } = memoryIn(session.events);
  if (agent.kind !== 'agent' || isOpen || model === undefined || model === modelOf(agent))
    return {};
  return isModelName(model) ? { model } : {};
}

function isModelName(name: string, env?: Host['env']): boolean {
  try {
    parseModelName(name, env);
    return true;
  } catch (error) {
    if (isAdjutantError(error, 'invalid_model_name')) return false;
    throw error;
  }
}

/** True when no other process works on a session. This one then owns it. */
async function isFree(session: Session): Promise<boolean> {
  try {
    await session.claim();
    return true;
  } catch (error) {
    if (isAdjutantError(error, 'session_busy')) return false;
    throw error;
  }
}

/** Session, or request of one, whose memory counts. */
export interface MemoryPlace {
  readonly session?: string | undefined;
  readonly request?: string | undefined;
}

/**
 * Returns the model that a session had last: the remembered one, else the one of its last call.
 * `undefined`: none that has a name, such as the rehearsal model that stood in.
 */
export function rememberedModel(events: readonly Event[], { env }: Host): string | undefined {
  const { model } = memoryIn(events);
  if (model !== undefined) return model;
  const last = events.findLast((event) => event.type === 'model_start')?.model;
  if (last === undefined || isRehearsal(last)) return undefined;
  return isModelName(last, env) ? last : undefined;
}

/**
 * Refuses that the rehearsal model goes on in a session in which the agent had another model.
 * @throws UsageError
 */
export async function refuseRehearsal(
  { id, events }: Pick<Session, 'id' | 'events'>,
  agent: Runnable,
  { env }: Host,
): Promise<void> {
  if (!isRehearsal(modelOf(agent) ?? '')) return;
  const last = lastModelOf(events, agent.name);
  if (last === undefined || isRehearsal(last)) return;
  throw new UsageError({
    reason:
      `Session "${id}" was answered by ${last}, and now the rehearsal model would answer. ` +
      `Nothing has been done. ${await missingFor(last, env)}`,
  });
}

/** Returns the model of the last call that an agent made in a session. */
function lastModelOf(events: readonly Event[], agent: string): string | undefined {
  const own = new Set(
    events.flatMap((event) =>
      event.type === 'invocation_start' && event.name === agent ? [event.invocationId] : [],
    ),
  );
  return events
    .filter((event) => event.type === 'model_start')
    .findLast(({ invocationId }) => own.has(invocationId))?.model;
}

function isRehearsal(model: string): boolean {
  return model === 'rehearsal' || model.startsWith('rehearsal:');
}

/** Sentence about what a model needs before it can be used again. */
async function missingFor(name: string, env: Host['env']): Promise<string> {
  try {
    await parseModelName(name, env).load();
  } catch (error) {
    if (isAdjutantError(error, 'missing_key') || isAdjutantError(error, 'missing_package'))
      return error.message;
  }
  return `Name its model with --model, or set it up again where the app is made.`;
}

/** Files that a project has in its folder. */
const marks = [...configNames, 'package.json', '.git'];

/** Returns the folder of the project that a folder belongs to: the folder itself without one. */
export function projectFolder(cwd: string): string {
  for (let folder = resolve(cwd); folder !== dirname(folder); folder = dirname(folder))
    if (marks.some((name) => existsSync(join(folder, name)))) return folder;
  return resolve(cwd);
}
