import {
  type Agent,
  type AgentOptions,
  agent,
  type Event,
  type EventOf,
  type RunResult,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Session,
} from 'adjutant';
import { type ScriptedModel, scriptedModel, type TestClock, testClock } from 'adjutant/testing';
import { until } from './until.ts';

/** A run on a clock that goes on whenever nothing else does, so that delays cost no time and are in the ledger as they were. */
export interface Played {
  readonly result: RunResult;
  readonly session: Session;
  readonly events: readonly Event[];
  readonly model: ScriptedModel;
  readonly app: Runtime;
}

export interface Play {
  readonly tools: NonNullable<AgentOptions['tools']>;
  /** Names and arguments of the calls, one round each; then the model answers. */
  readonly calls: readonly (string | { readonly name: string; readonly args: Readonly<Record<string, string | number>> })[];
  readonly agent?: Partial<AgentOptions>;
  readonly runtime?: Partial<RuntimeOptions>;
  readonly app?: Runtime;
  readonly clock?: TestClock;
  readonly session?: string | Session;
}

/** Lets a model make calls, one a round with the same arguments unless others are given. */
export async function play({ tools, calls, agent: more, runtime: options, app: given, clock = testClock(), session }: Play): Promise<Played> {
  const model = scriptedModel([
    ...calls.map((call) => ({ toolCalls: [typeof call === 'string' ? { name: call, args: { page: 'a' } } : { name: call.name, args: call.args }] })),
    { text: 'done' },
  ]);
  const app = given ?? runtime({ app: 'supervised', ports: { clock }, ...options });
  const made: Agent = agent({ name: 'worker', model, tools, ...more });
  const running = app.run(made, { input: 'Go', ...(session === undefined ? {} : { session }) });
  const result = await finished(running, clock);
  return { result, session: result.session, events: result.session.events, model, app };
}

/** Lets the clock go on until a run is over. */
export async function finished(running: PromiseLike<RunResult>, clock: TestClock): Promise<RunResult> {
  let end: { readonly result: RunResult } | { readonly error: unknown } | undefined;
  running.then(
    (result) => {
      end = { result };
    },
    (error: unknown) => {
      end = { error };
    },
  );
  await until(
    () => end !== undefined,
    'the end of the run',
    () => clock.advance(100),
  );
  if (end !== undefined && 'error' in end) throw end.error;
  return (end as { readonly result: RunResult } | undefined)?.result as RunResult;
}

export const eventsOf = <Type extends Event['type']>(events: readonly Event[], type: Type): readonly EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

/** Decisions of a component: what was decided. */
export const decided = (events: readonly Event[], component: string): readonly EventOf<'decision'>[] =>
  eventsOf(events, 'decision').filter((event) => event.component === component);

/** What happened to the calls, in a word for each result. */
export function story(events: readonly Event[]): readonly string[] {
  return eventsOf(events, 'tool_result').map(({ settled, retryAfterMs, fallback, result, notes = [] }) => {
    if (fallback !== undefined) return `then ${fallback}`;
    if (!settled) return `again after ${retryAfterMs}`;
    if (result.errorType === 'loop_blocked') return 'vetoed';
    if (result.errorType === undefined) return result.status;
    return notes.some((note) => note.includes('This way is closed')) ? 'closed' : notes.length > 0 ? 'hint' : 'plain';
  });
}
