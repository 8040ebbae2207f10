import { defined } from '../../base/defined.ts';
import type { JsonValue } from '../../base/json.ts';
import { recordable } from '../../ledger/blobs/large-values.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import {
  type Actor,
  type Event,
  type EventDraft,
  foldEvent,
  type StateChange,
} from '../../ledger/event.ts';
import {
  emptyInvocationTree,
  hasOutcome,
  invocationFold,
  lastRecord,
} from '../../ledger/folds/invocation-fold.ts';
import type { StateValues } from '../../ledger/folds/state-fold.ts';
import type { LedgerPorts } from '../../ledger/ledger.ts';
import { rootOf } from '../../ledger/path.ts';
import { recordedScopes } from '../../ledger/shared-scopes.ts';
import { storedStateAt } from '../../session/fold-snapshot.ts';
import type { ForkEdit, PromptEdit, StateEdit } from '../../session/fork-edit.ts';
import type { Runnable } from '../../session/runnable.ts';
import { createState, UndeclaredScopeError } from '../../session/scoped-state.ts';
import type { StateSchema } from '../../session/state-types.ts';
import type { StateSnapshot } from '../../session/time-travel.ts';
import type { ForkScopes } from '../../session/time-travel-fork.ts';
import { InvalidRunError } from '../frame/errors.ts';
import type { Registry } from '../frame/registry.ts';

/** Fork that is to be made with edits. */
export interface EditedFork {
  /** Session that is forked, and the last event that the fork shares. */
  readonly from: string;
  readonly at: number;
  readonly edit: ForkEdit;
  readonly shared: ForkScopes;
  readonly by: Actor;
  readonly schema: StateSchema | undefined;
  readonly registry: Pick<Registry, 'has' | 'get'>;
}

/**
 * Returns the events of the edits with which a fork begins: for each kind of edit a decision, then
 * the changes themselves.
 * @throws InvalidRunError, InvalidStateError, UndeclaredScopeError, UnknownRunnableError
 */
export async function editDrafts(
  ports: LedgerPorts,
  fork: EditedFork,
): Promise<readonly EventDraft[]> {
  const { from, at, edit, by } = fork;
  const events = await sharedPart(ports, from, at);
  const drafts: EventDraft[] = [];
  if (edit.state !== undefined && edit.state.length > 0)
    drafts.push(...stateDrafts(events, await storedStateAt(ports, from, at), fork));
  const { instructions, message } = edit.prompt ?? {};
  if (instructions !== undefined)
    drafts.push(instructionsDraft(events, { ...edit.prompt, instructions }, fork));
  if (message !== undefined) drafts.push(...messageDrafts(events, message, by));
  return drafts.map((draft) => withoutReferences(draft));
}

async function sharedPart(
  { store }: LedgerPorts,
  from: string,
  at: number,
): Promise<readonly Event[]> {
  const events: Event[] = [];
  if (at > 0) for await (const page of store.read(from, { upTo: at })) events.push(...page);
  return events;
}

/** Escapes values that look like references. None is large: the options limit them. */
function withoutReferences(draft: EventDraft): EventDraft {
  return recordable(draft, () => '').draft;
}

function stateDrafts(
  events: readonly Event[],
  snapshot: StateSnapshot,
  { edit, shared, schema, by }: EditedFork,
): readonly EventDraft[] {
  const scopeIds = recordedScopes(events);
  const changes = new Map<string, StateChange[]>();
  const state = createState(
    {
      sharedScopes: Object.keys(scopeIds),
      temp: {},
      read: (scope) => valuesOf(snapshot, scope),
      write: (scope, written) =>
        void changes.set(scope, [...(changes.get(scope) ?? []), ...written.map(withShortOldValue)]),
    },
    schema,
  ) as Record<string, unknown>;
  for (const one of edit.state ?? []) write(state, one, { shared, scopeIds });
  if (changes.size === 0) return [];
  const written = [...changes];
  const keys = written.flatMap(([scope, of]) => of.map(({ key }) => ({ scope, key })));
  return [
    decision('edit', 'state', {
      by,
      reasoning: 'The fork was made with another state.',
      data: { changes: keys },
    }),
    ...written.map(
      ([scope, of]): EventDraft => ({
        type: 'state_change',
        by,
        scope,
        ...defined({ scopeId: scopeIds[scope] }),
        source: 'mutation',
        changes: of,
      }),
    ),
  ];
}

function valuesOf(snapshot: StateSnapshot, scope: string): StateValues {
  const name = `${scope}State`;
  return Object.hasOwn(snapshot, name)
    ? ((snapshot as unknown as Record<string, StateValues>)[name] as StateValues)
    : {};
}

function write(
  state: Record<string, unknown>,
  { scope = 'session', key, value }: StateEdit,
  { shared, scopeIds }: { readonly shared: ForkScopes; readonly scopeIds: object },
): void {
  if (scope !== 'session') {
    if (!Object.hasOwn(scopeIds, scope)) throw new UndeclaredScopeError({ scope });
    if (shared === 'live')
      throw refused(
        `the edit of "${key}" is of the shared scope "${scope}", and a fork that is live would ` +
          'write it for everybody: leave `shared` out',
      );
  }
  const target = (scope === 'session' ? state : state[scope]) as Record<string, unknown>;
  // A key that is set to `undefined` is deleted.
  target[key] = value;
}

/** A large old value is left out: the events of a fork's making refer to no large values. */
function withShortOldValue({ oldValue, ...change }: StateChange): StateChange {
  const { large } = recordable(
    {
      type: 'state_change',
      by: 'operator',
      scope: '',
      source: 'mutation',
      changes: [{ key: '', newValue: oldValue as JsonValue }],
    },
    () => '',
  );
  return large.length > 0 ? change : { ...change, ...defined({ oldValue }) };
}

function instructionsDraft(
  events: readonly Event[],
  { agent: named, instructions }: PromptEdit & { readonly instructions: string },
  { by, registry }: EditedFork,
): EventDraft {
  const agent = named ?? lastAgent(events, registry);
  if (agent === undefined)
    throw refused(
      'no agent of the app has acted in the shared part: name the one whose instructions are ' +
        'edited by `edit.prompt.agent`',
    );
  assertAgent(registry.get(agent));
  return decision('edit', 'instructions', {
    by,
    reasoning: `The fork was made with other instructions of "${agent}".`,
    data: { agent, instructions },
  });
}

/** Returns the last agent of the app that acted: summaries have agents of their own. */
function lastAgent(events: readonly Event[], registry: EditedFork['registry']): string | undefined {
  const isAgent = (name: string): boolean =>
    registry.has(name) && registry.get(name).kind === 'agent';
  for (const event of events.toReversed()) {
    if (event.type === 'model_start' && isAgent(event.agent)) return event.agent;
    if (event.type === 'invocation_start' && event.kind === 'agent' && isAgent(event.name))
      return event.name;
  }
  return undefined;
}

function messageDrafts(events: readonly Event[], text: string, by: Actor): readonly EventDraft[] {
  const tree = emptyInvocationTree();
  for (const event of events) foldEvent(invocationFold, tree, event);
  const message = events.findLast((event) => event.type === 'user');
  if (message === undefined)
    throw refused('there is no message of the user in the shared part that could be edited');
  const { invocationId = '' } = message;
  const run = rootOf(invocationId);
  if (hasOutcome(tree, run))
    throw refused(
      `the run of the last message has ended: fork at ${message.seq}, the message itself, to ` +
        'have it answered in another form, or send another message to the fork',
    );
  const target = hasOutcome(tree, invocationId) ? run : invocationId;
  return [
    decision('edit', 'message', {
      by,
      reasoning: 'The fork was made with another message of the user.',
      data: { seq: message.seq },
    }),
    {
      type: 'user',
      by,
      // Without its run, which the fork does not have, it is for the next one.
      ...defined({ invocationId: lastRecord(tree, target)?.path, lane: message.lane }),
      text,
      replaces: message.id,
    },
  ];
}

/** @throws InvalidRunError for a runnable without instructions */
function assertAgent({ kind, name }: Runnable): void {
  if (kind === 'agent') return;
  throw refused(`"${name}" is a ${kind}, and only agents have instructions that can be edited`);
}

function refused(reason: string): InvalidRunError {
  return new InvalidRunError({ refused: 'The session cannot be forked', reason });
}
