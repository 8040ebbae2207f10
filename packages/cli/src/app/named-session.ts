import type { Runtime, SessionListing, SessionQuery } from 'adjutant';
import { SessionNotFoundError } from 'adjutant/errors';
import { UsageError } from '../failure.ts';
import { ownCommand } from '../host/own-name.ts';
import { noSessions } from './app.ts';
import { memoryOf } from './session-memory.ts';

const pageSize = 200;
/** Sessions that are looked at for those of one folder. */
const mostScanned = 2_000;
const shortestEnding = 4;
/** Ids that sessions without a name of their own have. */
const generated = /^session_[a-z0-9]+$/;
const mostShown = 5;

/** Sessions among which a name is looked for. */
export interface NamedSessions {
  has(id: string): Promise<boolean>;
  newest(): Promise<string | undefined>;
  ids(): AsyncIterable<string>;
}

/** Sessions of an app of this machine. */
export interface SessionPool {
  readonly app: Runtime;
  /** Folder of the project whose sessions are meant. `undefined`: all of the store. */
  readonly folder?: string | undefined;
}

/**
 * Returns the id of the session that is named: by its id, by an ending of it that no other has, or
 * by `last`.
 * @throws SessionNotFoundError, UsageError
 */
export async function namedSession(pool: SessionPool, text: string): Promise<string> {
  const found = await foundSession(localSessions(pool), text);
  if (found === undefined && text === 'last') throw new UsageError({ reason: await noneOf(pool) });
  if (found === undefined) throw new SessionNotFoundError({ session: text, app: pool.app.app });
  return found;
}

/** Returns the same for a session that may be begun under this name. */
export async function sessionToGoOn(pool: SessionPool, text: string): Promise<string> {
  return (await foundSession(localSessions(pool), text, canBegin)) ?? text;
}

/**
 * True for ids that are found by their endings where a session may be begun: those that are
 * generated. A new name is otherwise taken for the ending of another one.
 */
export const canBegin = (id: string): boolean => generated.test(id);

/** Returns the id of the session that a text names. `undefined`: there is none. */
export async function foundSession(
  sessions: NamedSessions,
  text: string,
  isMeant: (id: string) => boolean = () => true,
): Promise<string | undefined> {
  if (await sessions.has(text)) return text;
  if (text === 'last') return sessions.newest();
  const ending = text.replace(/^…/, '');
  if (ending.length < shortestEnding) return undefined;
  const ids: string[] = [];
  for await (const id of sessions.ids()) if (id.endsWith(ending) && isMeant(id)) ids.push(id);
  if (ids.length > 1) throw ambiguous(text, ids);
  return ids[0];
}

function localSessions(pool: SessionPool): NamedSessions {
  const { sessions } = pool.app;
  return {
    has: async (id) => (await sessions.list({ id, limit: 1 })).sessions.length > 0,
    newest: async () => (await projectSessions(pool, { limit: 1 }))[0]?.id,
    async *ids() {
      for await (const { id } of allSessions(pool.app, {})) yield id;
    },
  };
}

function ambiguous(text: string, ids: readonly string[]): UsageError {
  const more = ids.length > mostShown ? ` and ${ids.length - mostShown} more` : '';
  return new UsageError({
    reason:
      `The ids of ${ids.length} sessions end with "${text}": ` +
      `${ids.slice(0, mostShown).join(', ')}${more}. Write more of the one that is meant.`,
  });
}

/** Lists the sessions of the project, newest first. Those of unknown folders are among them. */
export async function projectSessions(
  { app, folder }: SessionPool,
  query: SessionQuery & { readonly limit: number },
): Promise<readonly SessionListing[]> {
  // A page of a search may end before it has found all.
  if (folder === undefined && query.text === undefined)
    return (await app.sessions.list(query)).sessions;
  const found: SessionListing[] = [];
  let scanned = 0;
  for await (const session of allSessions(app, query)) {
    if (folder === undefined || (await isOf(app, folder, session.id))) found.push(session);
    if (found.length === query.limit || ++scanned === mostScanned) break;
  }
  return found;
}

/** True for a session of a folder, and for one of an unknown folder. */
async function isOf(app: Runtime, folder: string, id: string): Promise<boolean> {
  return ((await memoryOf(app, id)).folder ?? folder) === folder;
}

/** Message for a project without sessions, or a store without any of the app. */
export async function noneOf({ app, folder }: SessionPool): Promise<string> {
  const others = folder === undefined ? [] : (await app.sessions.list({ limit: 1 })).sessions;
  if (folder === undefined || others.length === 0) return noSessions(app);
  const count = mostScanned.toLocaleString('en-US');
  return (
    `None of the newest ${count} sessions is of the project ${folder}. ` +
    `${ownCommand('sessions --all')} lists those of other folders.`
  );
}

async function* allSessions(app: Runtime, query: SessionQuery): AsyncGenerator<SessionListing> {
  let cursor: string | undefined;
  do {
    const page = await app.sessions.list({ ...query, limit: pageSize, cursor });
    yield* page.sessions;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
