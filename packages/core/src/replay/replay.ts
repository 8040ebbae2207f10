import { checkOptions, InvalidOptionError } from '../base/invalid-option.ts';
import { describeValue, isCount, isFunction, isOneOf, type OptionChecks } from '../base/options.ts';
import type { Event } from '../ledger/event.ts';
import { Runtime } from '../runtime.ts';
import type { AnySession } from '../session/session.ts';
import type { Divergence } from './divergence.ts';
import { ledgerOf, type RecordedLedger, resolverOf } from './recorded-ledger.ts';
import type { ReplayOptions } from './replay-options.ts';
import { replaySegment } from './replay-segment.ts';
import { registryOf } from './replaying-runtime.ts';
import { rootStarts, segmentsOf } from './segments.ts';

/** The result of a replay. */
export interface ReplayReport {
  /** Id of the recorded session. */
  readonly session: string;
  /** Recorded events that code made again, or that were served, up to the first divergence. */
  readonly events: number;
  /**
   * The first divergence by its place in the record; `undefined`: the code does the same as
   * recorded.
   */
  readonly divergence: Divergence | undefined;
  /** All divergences; more than one only with live tools. */
  readonly divergences: readonly Divergence[];
  /**
   * Steps whose bodies ran for real and do not say `effects: false`. What they do outside by
   * themselves was done again.
   */
  readonly undeclaredSteps: readonly string[];
}

const checks: OptionChecks<ReplayOptions> = {
  model: isOneOf('recorded', 'live'),
  tools: isOneOf('recorded', 'live'),
  until: isCount,
  normalize: isFunction,
  patienceMs: isCount,
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
};

/**
 * Runs today's code against a recorded run and finds the first place where it does something else:
 * another prompt, other arguments, another order, another write. Answers of models and results of
 * tools come from the record, at the recorded times, so nothing happens outside. Code that waits
 * for neither runs for real: steps, hooks and renderers. Runs that were stopped, crashed or waited
 * are continued where they were. The recorded session stays unchanged.
 *
 * Where no code changed an answer or a result, the hooks, guardrails, checks and goals of today
 * apply to it. Changes that code made to one are taken from the record with it. The reaction to a
 * failure (retries, error routing) is taken from the record too. While models and tools are
 * recorded, a change of that code shows only in later events. A changed circuit breaker is not
 * found, because other sessions open it too.
 * @param app the runtime whose runnables, hooks and options are compared with the record
 * @throws InvalidOptionError; rejects with LedgerUnreadableError, and with the reason when `signal`
 * is aborted
 */
export async function replay(
  source: AnySession | RecordedLedger,
  app: Runtime,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  checkOptions('replay', options, checks);
  checkApp('replay', app);
  const whole = ledgerOf('replay', source);
  checkUntil(options.until, whole.events.length);
  const record: RecordedLedger = { ...whole, events: whole.events.slice(0, options.until) };
  const resolve = resolverOf(record.blobs);
  const starts = rootStarts(record.events, resolve);
  const divergences: Divergence[] = [];
  for (const segment of segmentsOf(record.events, record.events.length < whole.events.length)) {
    options.signal?.throwIfAborted();
    const isLast = segment.to === record.events.length;
    const isCut =
      !isLast || isUnfinished(record.events) || record.events.length < whole.events.length;
    divergences.push(
      ...(await replaySegment({ record, segment, isCut, starts, resolve, app, options })),
    );
    if (divergences.length > 0 && options.tools !== 'live') break;
  }
  divergences.sort((a, b) => a.seq - b.seq);
  const [first] = divergences;
  const events = first === undefined ? record.events.length : Math.max(0, first.seq - 1);
  return {
    session: record.session,
    events,
    divergence: first,
    divergences: options.tools === 'live' ? divergences : divergences.slice(0, 1),
    undeclaredSteps: undeclaredSteps(record, app),
  };
}

/** Returns the names of recorded steps that do not say `effects: false` today. */
function undeclaredSteps({ events }: RecordedLedger, app: Runtime): readonly string[] {
  const registry = registryOf(app);
  const names = events.flatMap((event) =>
    event.type === 'invocation_start' && event.kind === 'step' ? [event.name] : [],
  );
  return [...new Set(names)].filter((name) => {
    const step = registry.has(name) ? registry.get(name) : undefined;
    return step?.kind !== 'step' || step.effects !== false;
  });
}

/**
 * @throws InvalidOptionError for a value that is no runtime, such as an agent or a promise of the
 * app
 */
export function checkApp(name: string, app: unknown): void {
  if (app instanceof Runtime) return;
  const reason =
    `it needs the app that has today's code, as runtime({ app, runnables: [...] }) gives it, ` +
    `not ${describeValue(app)}`;
  throw new InvalidOptionError({ function: name, reason });
}

/** Refuses a number beyond the record: mistyped, it would otherwise mean the whole record. */
function checkUntil(until: number | undefined, length: number): void {
  if (until === undefined || until <= length) return;
  throw new InvalidOptionError({
    function: 'replay',
    reason: `\`until\` is ${until}, and the record has ${length} events`,
  });
}

/**
 * True when an invocation is open at the end of the record, so that more may have been done since.
 */
function isUnfinished(events: readonly Event[]): boolean {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'invocation_start' || event.type === 'invocation_reopen')
      open.add(event.invocationId);
    else if (event.type === 'invocation_end') open.delete(event.invocationId);
  }
  return open.size > 0;
}
