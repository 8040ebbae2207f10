import { checkOptions, InvalidOptionError } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import { describeValue, isCount, isFunction, isOneOf, type OptionChecks } from '../base/options.ts';
import type { Event } from '../ledger/event.ts';
import { Runtime } from '../runtime.ts';
import type { AnySession } from '../session/session.ts';
import type { Divergence } from './divergence.ts';
import { ledgerOf, type RecordedLedger, resolverOf } from './recorded-ledger.ts';
import { replaySegment } from './replay-segment.ts';
import { rootStarts, segmentsOf } from './segments.ts';

export interface ReplayOptions {
  /**
   * Where the answers of models come from: from the record, or from the models themselves.
   * @default 'recorded'
   */
  readonly model?: 'recorded' | 'live';
  /**
   * Where the results of tools and of `ctx.effect` come from: from the record, or from running
   * them. Live ones have their effects in the world again; the replay then goes on after a
   * divergence, and reports all of them.
   * @default 'recorded'
   */
  readonly tools?: 'recorded' | 'live';
  /**
   * The `seq` of the last event that is replayed; the record must have it. @default the last one of
   * the record
   */
  readonly until?: number;
  /**
   * Applied to both sides before they are compared: puts the same in the place of what differs for
   * good reasons, as redaction does.
   */
  readonly normalize?: (value: JsonValue) => JsonValue;
  /**
   * Milliseconds of real time that code may take for something of its own, such as reading a file
   * in a step, before it counts as not done.
   * @default 2_000
   */
  readonly patience?: number;
  readonly signal?: AbortSignal;
}

/** What came of a replay. */
export interface ReplayReport {
  /** Id of the recorded session. */
  readonly session: string;
  /** Recorded events that code did again, or that were served, up to the first divergence. */
  readonly events: number;
  /** The first divergence by its place in the record; `undefined`: the code does what it did. */
  readonly divergence: Divergence | undefined;
  /** All divergences; more than one only with live tools. */
  readonly divergences: readonly Divergence[];
}

const checks: OptionChecks<ReplayOptions> = {
  model: isOneOf('recorded', 'live'),
  tools: isOneOf('recorded', 'live'),
  until: isCount,
  normalize: isFunction,
  patience: isCount,
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
};

/**
 * Runs today's code against a recorded run and finds the first place where it does something else:
 * another prompt, other arguments, another order, another write. Answers of models and results of
 * tools come from the record, at the times that are recorded, so that nothing happens outside; what
 * waits for nobody, such as the code of steps, hooks and renderers, runs for real. Runs that were
 * stopped, crashed or waited are continued where they were. The recorded session is left alone.
 *
 * Where nothing was made of an answer or a result, the hooks, guardrails, checks and goals of today
 * have their say. What was made of one is taken from the record with it, and so is what followed
 * from a failure (retries, error routing): while models and tools are recorded, a change of that is
 * found only by what it changes later. A changed circuit breaker is not found, because other
 * sessions open it too.
 * @param app the runtime whose runnables, hooks and options are held against the record
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
  };
}

/** @throws InvalidOptionError for what is no runtime: an agent, or a promise of the app */
export function checkApp(name: string, app: unknown): void {
  if (app instanceof Runtime) return;
  const reason =
    `it needs the app that has today's code, as runtime({ app, runnables: [...] }) gives it, ` +
    `not ${describeValue(app)}`;
  throw new InvalidOptionError({ function: name, reason });
}

/** A number that was mistyped would otherwise mean the whole record. */
function checkUntil(until: number | undefined, length: number): void {
  if (until === undefined || until <= length) return;
  throw new InvalidOptionError({
    function: 'replay',
    reason: `\`until\` is ${until}, and the record has ${length} events`,
  });
}

/** Whether something was still open when the record ends, so that more may have been done since. */
function isUnfinished(events: readonly Event[]): boolean {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'invocation_start' || event.type === 'invocation_reopen')
      open.add(event.invocationId);
    else if (event.type === 'invocation_end') open.delete(event.invocationId);
  }
  return open.size > 0;
}
