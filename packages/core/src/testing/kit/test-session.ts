import { checkOptions } from '../../base/invalid-option.ts';
import type { JsonValue } from '../../base/json.ts';
import { isList, isNonEmptyText, isObject, type OptionChecks } from '../../base/options.ts';
import { session } from '../../in-memory-app.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { Session } from '../../session/session.ts';
import type { ScopeIds } from '../../session/shared-state.ts';
import type { StateSchema } from '../../session/state-types.ts';
import { writeState } from './seed-state.ts';

export interface TestSessionOptions<Schema extends StateSchema = StateSchema> {
  /** @default 'test' */
  readonly app?: string;
  /** @default a new one */
  readonly id?: string;
  /** Shorthand of `scopes.user`. */
  readonly userId?: string;
  /** Ids of the shared scopes, by scope name. */
  readonly scopes?: ScopeIds;
  readonly stateSchema?: Schema;
  /** State that it begins with, by key; values for shared scopes under the names of these. */
  readonly state?: { readonly [key: string]: JsonValue };
  /** Messages of the user that it begins with. */
  readonly messages?: readonly string[];
  /** Events that it begins with, before the messages. */
  readonly events?: readonly EventDraft[];
}

const checks: OptionChecks<TestSessionOptions> = {
  app: isNonEmptyText,
  id: isNonEmptyText,
  userId: isNonEmptyText,
  scopes: isObject,
  stateSchema: isObject,
  state: isObject,
  messages: isList,
  events: isList,
};

/**
 * Opens a session in memory with the state, messages and events of a test: `run(agent, { session
 * })` runs on it, and `run` continues it.
 * @throws InvalidOptionError, InvalidRunError, InvalidStateError, InvalidEventError
 */
export async function createTestSession<Schema extends StateSchema = StateSchema>(
  options: TestSessionOptions<Schema> = {},
): Promise<Session<Schema>> {
  checkOptions('createTestSession', options as TestSessionOptions, checks);
  const { app = 'test', state, messages = [], events = [], ...rest } = options;
  const made = await session<Schema>(app, rest);
  if (state !== undefined) writeState(made as unknown as Session, state);
  if (events.length > 0) made.append(events);
  for (const text of messages) made.addMessage(text);
  await made.flush();
  return made;
}
