import { placeOf } from './engine/app/shared-app.ts';
import type { RunOptions, SessionOptions } from './engine/frame/run-options.ts';
import type { Run } from './engine/run/run.ts';
import { Runtime, runtimeAt } from './runtime.ts';
import type { OutputOf, Runnable } from './session/runnable.ts';
import type { AnySession, Session } from './session/session.ts';
import type { LooseSnapshot, SessionSnapshot } from './session/session-snapshot.ts';
import type { StateSchema } from './session/state-types.ts';

/**
 * Sessions with shared scopes meet in one store in memory for each app; others have one of their
 * own, so that they can be forgotten.
 */
const sharedRuntimes = new Map<string, Runtime>();

function runtimeForScopes(app: string): Runtime {
  let found = sharedRuntimes.get(app);
  if (found === undefined) {
    found = new Runtime({ app });
    sharedRuntimes.set(app, found);
  }
  return found;
}

/** A session in memory, without a runtime of its own. */
async function memorySession<Schema extends StateSchema = StateSchema>(
  app: string,
  options: SessionOptions<Schema> = {},
): Promise<Session<Schema>> {
  const isShared = options.userId !== undefined || Object.keys(options.scopes ?? {}).length > 0;
  const owner = isShared ? runtimeForScopes(app) : new Runtime({ app });
  return owner.sessions.open(options);
}

/** Makes a session in memory from what `toJSON` gave. */
async function fromSnapshot<Schema extends StateSchema = StateSchema>(
  snapshot: SessionSnapshot | LooseSnapshot,
  stateSchema?: Schema,
): Promise<Session<Schema>> {
  const owner = new Runtime({ app: snapshot.app ?? (snapshot as LooseSnapshot).appName ?? 'app' });
  return owner.sessions.restore(snapshot, stateSchema);
}

/**
 * A session in memory: `await session('my-app', { id, userId })`. Sessions that last come from
 * `runtime({ store }).session()`.
 */
export const session = Object.assign(memorySession, { fromSnapshot });

export interface InAppOptions extends RunOptions {
  /** The app to run in. @default that of the session, else one of its own in memory */
  readonly app?: Runtime;
}

/** Runs in memory, or on the runtime of the given session. */
export function run<R extends Runnable>(
  runnable: R,
  inputOrOptions: string | InAppOptions = {},
): Run<OutputOf<R>> {
  // Its refusal must not speak of the members of a list.
  if (Array.isArray(inputOrOptions)) return runtimeOf(undefined).run(runnable, inputOrOptions);
  const { app, ...options } =
    typeof inputOrOptions === 'string' ? { input: inputOrOptions } : inputOrOptions;
  return (app ?? runtimeOf(options.session)).run(runnable, options);
}

/** The runtime that a session came from; for anything else a new one in memory. */
function runtimeOf(session: AnySession | string | undefined): Runtime {
  const place = typeof session === 'object' ? placeOf(session) : undefined;
  return place === undefined ? new Runtime({ app: 'app' }) : runtimeAt(place);
}
