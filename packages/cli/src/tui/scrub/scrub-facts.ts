import type { EventOf } from 'adjutant';
import type { StateSnapshot } from 'adjutant/views';
import { costText } from '../feed/amounts.ts';
import { isKnown } from '../feed/known-events.ts';
import { noTotals, type Totals, withUsage } from '../feed/totals.ts';
import { effectsUpTo } from '../session/effects.ts';
import type { AgentOutline } from '../session/workplace.ts';
import type { TraceIndex } from '../trace/trace-index.ts';

/** The facts at an event besides the state. */
export interface ScrubFacts {
  /** Requests that waited. */
  readonly waits: readonly string[];
  /** `$0.094 of $0.50 · 11 of 25 rounds`. */
  readonly budget: string;
  /** Calls that were made and stay made: `1 editFile, 1 sendMail`. */
  readonly effects: string;
  /** The last message of a person up to there. */
  readonly message: EventOf<'user'> | undefined;
}

/** Reads the events up to one. */
export function scrubFacts(
  index: TraceIndex,
  place: number,
  agents: readonly AgentOutline[],
): ScrubFacts {
  const waiting = new Map<string, EventOf<'tool_yield'>>();
  let run: string | undefined;
  let used: Totals = noTotals;
  let message: EventOf<'user'> | undefined;
  for (let at = 0; at <= place && at < index.length; at++) {
    const event = index.event(at);
    if (!isKnown(event)) continue;
    if (event.type === 'tool_yield') waiting.set(event.requestId, event);
    if (event.type === 'tool_input' && event.decision !== 'escalate')
      waiting.delete(event.requestId);
    if (event.type === 'user') message = event;
    if (event.type === 'model_end') used = withUsage(used, event);
    if (event.type === 'invocation_end' && event.invocationId === run) waiting.clear();
    if (event.type === 'invocation_start' && event.mode === 'root') {
      run = event.invocationId;
      used = noTotals;
    }
  }
  const events = (function* (): Generator<ReturnType<TraceIndex['event']>> {
    for (let at = 0; at <= place && at < index.length; at++) yield index.event(at);
  })();
  return {
    waits: [...waiting.values()].map(({ request, seq }) => `${request.summary} #${seq}`),
    budget: budgetText(used, agents.find(({ name }) => name === index.startOf(run)?.name)?.limits),
    effects: effectsUpTo(events, Number.POSITIVE_INFINITY, agents),
    message,
  };
}

function budgetText(used: Totals, { cost, rounds }: AgentOutline['limits'] = {}): string {
  const dollars = cost === undefined ? '' : ` of $${cost.toFixed(2)}`;
  const most = rounds === undefined ? '' : ` of ${rounds}`;
  const noun = used.rounds === 1 && rounds === undefined ? 'round' : 'rounds';
  return `${costText(used)}${dollars} · ${used.rounds}${most} ${noun}`;
}

/** A key of the state with its value, and the value before when the event changed it. */
export interface StateEntry {
  readonly key: string;
  readonly text: string;
}

export interface StateScope {
  /** `session`, or the name of a shared scope with its id: `user:ada`. */
  readonly name: string;
  readonly entries: readonly StateEntry[];
}

const suffix = 'State';

/** Returns the scopes of a state with their entries. */
export function stateScopes(
  snapshot: StateSnapshot,
  index: TraceIndex,
  place: number,
): readonly StateScope[] {
  const event = index.length === 0 ? undefined : index.event(place);
  const changed = event !== undefined && isKnown(event) && event.type === 'state_change' && event;
  const scopes = Object.entries(snapshot).filter(([name]) => name.endsWith(suffix));
  return scopes.map(([member, values]) => {
    const scope = member.slice(0, -suffix.length);
    const changes = changed && changed.scope === scope ? changed.changes : [];
    const entries = Object.entries(values as object).map(([key, value]): StateEntry => {
      const change = changes.find((one) => one.key === key);
      const was = change === undefined ? '' : ` (was ${valueText(change.oldValue)})`;
      return { key, text: `${valueText(value)}${was}` };
    });
    const gone = changes
      .filter(({ newValue }) => newValue === undefined)
      .map(({ key, oldValue }) => ({ key, text: `deleted (was ${valueText(oldValue)})` }));
    const id = changed && changed.scope === scope ? changed.scopeId : undefined;
    const name = id === undefined ? scope : `${scope}:${id}`;
    return { name, entries: [...entries, ...gone] };
  });
}

function valueText(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing');
}
