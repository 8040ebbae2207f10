import { afterThisTurn, systemClock } from '../base/clock.ts';
import { type TestClock, testClock } from '../base/clocks/test-clock.ts';
import { defined } from '../base/defined.ts';
import { isAdjutantError, toErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { RunLimits } from '../engine/frame/run-options.ts';
import type { Run } from '../engine/run/run.ts';
import type { Event } from '../ledger/event.ts';
import { hasOutcome, lastRecord } from '../ledger/folds/invocation-fold.ts';
import { defaultLane, laneAt, laneMember } from '../ledger/folds/lanes.ts';
import { recordedScopes } from '../ledger/shared-scopes.ts';
import type { Runtime } from '../runtime.ts';
import { comparableOf } from './comparable.ts';
import type { Divergence } from './divergence.ts';
import { endReplay, type ReplayStage } from './end-replay.ts';
import { capital, nameOf } from './event-name.ts';
import type { RecordedLedger } from './recorded-ledger.ts';
import type { ReplayOptions } from './replay-options.ts';
import { ReplayRecording } from './replay-recording.ts';
import { registeredRunnable, replayingRuntime } from './replaying-runtime.ts';
import type { RootStart, Segment } from './segments.ts';
import { comesFromOutside, isMark, mayComeFromOutside } from './streams.ts';

export interface SegmentReplay {
  readonly record: RecordedLedger;
  readonly segment: Segment;
  /** True when the process may have done more than is recorded. */
  readonly isCut: boolean;
  readonly starts: ReadonlyMap<number, RootStart>;
  readonly resolve: (value: unknown) => unknown;
  readonly app: Runtime;
  readonly options: ReplayOptions;
}

/** Turns of the event loop without anything new after which code is assumed to wait. */
const idleTurns = 12;
const defaultPatienceMs = 2_000;
/** Milliseconds without an event after which all code that could go on has gone on. */
const longPauseMs = 100;
/** Milliseconds that a store may take to write an outcome that is then returned at once. */
const longestWriteMs = 20;
/**
 * Milliseconds by which timers may be ahead of the recorded times: a process reads the two from
 * different clocks.
 */
const clockSlackMs = 25;

/** Replays the events of one process, in a runtime that begins with the events before them. */
export async function replaySegment(parts: SegmentReplay): Promise<readonly Divergence[]> {
  const { record, segment, isCut, resolve, options } = parts;
  const first = record.events[segment.from] as Event;
  const clock = testClock(first.at);
  const recording = new ReplayRecording({
    events: record.events,
    ...segment,
    isCut,
    model: options.model ?? 'recorded',
    tools: options.tools ?? 'recorded',
    resolve,
    normalize: options.normalize ?? ((value) => value),
    made: new Set([...parts.starts.values()].flatMap(({ seqs }) => seqs)),
  });
  const events = record.events.slice(0, segment.from);
  const id = segment.session ?? record.session;
  const app = await replayingRuntime(parts.app, {
    ...record,
    session: id,
    events,
    clock,
    recording,
  });
  const scopes = recordedScopes(record.events);
  const session = await app.sessions.open({
    id,
    observe: false,
    ...(Object.keys(scopes).length === 0 ? {} : { scopes }),
  });
  session.ledger.blobs.keepAll(record.blobs);
  if (scopes['user'] !== undefined) session.ledger.user = scopes['user'];
  recording.attach(session.ledger);
  const driver = new SegmentDriver(parts, { app, session, recording, clock });
  try {
    await driver.drive();
  } finally {
    await endReplay({ app, session, recording });
  }
  return recording.divergences;
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => afterThisTurn(resolve));
}

function has(runs: ReadonlyMap<Run, string>, lane: string): boolean {
  return [...runs.values()].includes(lane);
}

function isByRuntime({ type, by }: Event): boolean {
  return type === 'cancel' && by === 'runtime';
}

function isNews(event: Event): boolean {
  return comesFromOutside(event) || event.type === 'cancel';
}

interface Stage extends ReplayStage {
  readonly clock: TestClock;
}

/** Runs today's code in the order of the record: one event after the other, each at its turn. */
class SegmentDriver {
  readonly #parts: SegmentReplay;
  readonly #stage: Stage;
  /** Runs without a result, with their lanes. */
  readonly #runs = new Map<Run, string>();
  /** Runs of which something may still be under way, with their lanes. */
  readonly #unsettled = new Map<Run, string>();
  #failure: unknown;
  #resumedFor = 0;

  constructor(parts: SegmentReplay, stage: Stage) {
    this.#parts = parts;
    this.#stage = stage;
  }

  async drive(): Promise<void> {
    const { recording, clock } = this.#stage;
    let isToResume = this.#parts.segment.isResumed;
    for (;;) {
      this.#parts.options.signal?.throwIfAborted();
      const event = recording.frontier;
      // The next process reads events that came from outside before it resumes the run.
      if (isToResume && (event === undefined || !this.#isBeforeResumption(event))) {
        isToResume = false;
        for (const lane of this.#lanesToResume()) this.#resume(lane);
      }
      const worst = Math.min(...recording.divergences.map(({ seq }) => seq));
      if (event === undefined) {
        if (await this.#isIdle()) return;
      } else if (event.seq >= worst && !this.#goesOn) return;
      else if (this.#isOnlyNews(event)) return;
      else if (this.#jumps(event) && !(await this.#isIdle())) continue;
      else if (this.#act(event)) {
        if (this.#isLastOfMoment(event)) await turnOfLoop();
      } else if (await this.#isIdle()) {
        // Nothing happens by itself any more: time has to pass, or another process has to act.
        if (clock.now() < event.at) clock.advance(event.at - clock.now());
        else if (this.#stepIn(event)) continue;
        else if (this.#isCutOff(event)) return;
        else if (worst === Number.POSITIVE_INFINITY && clock.now() < event.at + clockSlackMs)
          clock.advance(1);
        else if (worst < Number.POSITIVE_INFINITY || !(await this.#isDoneInTime()))
          return this.#missing(event);
      }
    }
  }

  /** True when a replay goes on after a divergence. */
  get #goesOn(): boolean {
    return this.#parts.options.tools === 'live';
  }

  /** True when only events from outside are left, which the next process read in the ledger. */
  #isOnlyNews(event: Event): boolean {
    const { record, segment } = this.#parts;
    if (segment.to === record.events.length || !isNews(event)) return false;
    const left = record.events.slice(event.seq - 1, segment.to);
    return left.every(
      (each, at) => isNews(each) || isMark(each) || mayComeFromOutside(each, left[at - 1]),
    );
  }

  /** True when the record has only a part of the last append. */
  #isCutOff(event: Event): boolean {
    const { record, segment } = this.#parts;
    return (
      segment.isCutAnywhere &&
      record.events.slice(event.seq - 1, segment.to).every(({ at }) => at === event.at)
    );
  }

  /**
   * True when code is to go on before the next event. An outcome is returned when the store has
   * written it, together with other outcomes that came meanwhile. After outcomes that follow each
   * other at once, the code went on with all of them. Code that went on between two of them would
   * have left an event there.
   */
  #isLastOfMoment({ at }: Event): boolean {
    const { recording } = this.#stage;
    const next = recording.frontier;
    return next === undefined || next.at - at > longestWriteMs || !recording.isReleasable(next);
  }

  /** True when so much time passed before an event that all code which could go on had gone on. */
  #jumps({ at }: Event): boolean {
    return at - this.#stage.clock.now() > longPauseMs;
  }

  /** True for what the next process finds, or records, before it resumes the run. */
  #isBeforeResumption(event: Event): boolean {
    return this.#stage.recording.isFromOutside(event) || isByRuntime(event);
  }

  /**
   * Performs the next event if it does not come from code. Returns `false` when code has to make
   * it.
   */
  #act(event: Event): boolean {
    const { recording, clock } = this.#stage;
    const start = this.#parts.starts.get(event.seq);
    if (start !== undefined) return this.#start(start, event);
    if (recording.isReleasable(event)) {
      this.#setTime(event);
      return recording.release(event);
    }
    if (recording.isFromOutside(event) || recording.isBelowServed(event)) {
      this.#setTime(event);
      recording.inject([event]);
      return true;
    }
    const lane = this.#laneOf(event);
    if (event.type !== 'cancel' || !has(this.#unsettled, lane) || recording.isAsked(event))
      return false;
    if (clock.now() < event.at) clock.advance(event.at - clock.now());
    void this.#stage.app.cancel(this.#stage.session.id, {
      // The runtime itself cancels for what no code of the app makes again.
      by: isByRuntime(event) ? 'operator' : event.by,
      ...defined({ reason: event.reason }),
      ...laneMember(lane),
    });
    return true;
  }

  /**
   * Advances the clock to the time of a served event. Timers that are due at the same moment come
   * after it.
   */
  #setTime({ at }: Event): void {
    const { clock } = this.#stage;
    const ms = at - clock.now() - 1;
    if (ms > 0) clock.advance(ms);
  }

  /**
   * Performs an event that is due although no code makes it. Returns `false` when there is no way
   * to.
   */
  #stepIn(event: Event): boolean {
    const { recording, session } = this.#stage;
    const { events } = this.#parts.record;
    const lane = this.#laneOf(event);
    if (event.type === 'cancel' && !has(this.#unsettled, lane)) {
      recording.inject([event]);
      return true;
    }
    if (mayComeFromOutside(event, events[event.seq - 2])) {
      recording.inject([event]);
      return true;
    }
    // A run that waited goes on when the event that it waited for has come.
    if (
      has(this.#runs, lane) ||
      this.#resumedFor === event.seq ||
      session.ledger.invocations.roots.length === 0
    )
      return false;
    this.#resumedFor = event.seq;
    this.#resume(lane);
    return true;
  }

  /** The lane of the run that an event belongs to. */
  #laneOf({ invocationId }: Event): string {
    return laneAt(this.#stage.session.ledger.invocations, invocationId);
  }

  /**
   * Lanes that the next process resumes at once. Of several, those that wait go on when something
   * comes for them.
   */
  #lanesToResume(): readonly string[] {
    const { invocations } = this.#stage.session.ledger;
    const open = invocations.roots.filter((root) => !hasOutcome(invocations, root));
    const lanes = [...new Set(open.map((root) => laneAt(invocations, root)))];
    if (lanes.length < 2) return [lanes[0] ?? defaultLane];
    const working = open.filter((root) => lastRecord(invocations, root)?.status !== 'yielded');
    return [...new Set(working.map((root) => laneAt(invocations, root)))];
  }

  #resume(lane: string): void {
    const { app, session } = this.#stage;
    this.#track(app.resume(session, laneMember(lane)), lane);
  }

  #start(start: RootStart, event: Event): boolean {
    const { app, session, recording, clock } = this.#stage;
    if (recording.isAsked(event)) return false;
    if (clock.now() < event.at) clock.advance(event.at - clock.now());
    const { name, runId, input, data, lane, model, timeoutMs, limits, permissions } = start;
    try {
      const options = {
        session,
        runId,
        ...defined({
          input,
          data: data as JsonValue | undefined,
          lane,
          model,
          timeoutMs,
          limits: limits as RunLimits | undefined,
          permissions,
        }),
      };
      this.#track(app.run(registeredRunnable(app, name), options), lane ?? defaultLane);
    } catch (error) {
      this.#failure = error;
      this.#missing(event);
    }
    return true;
  }

  #track(run: Run, lane: string): void {
    this.#runs.set(run, lane);
    this.#unsettled.set(run, lane);
    void run.settled().then(() => void this.#unsettled.delete(run));
    const over = (): void => void this.#runs.delete(run);
    run.then(over, (error: unknown) => {
      over();
      // A session may have no open run any more, as when all that was left has been served.
      if (!isAdjutantError(error, 'no_open_run')) this.#failure ??= error;
      this.#stage.recording.progress++;
    });
  }

  /**
   * Turns the event loop until nothing has happened for a while. Returns true when nothing has
   * happened at all.
   */
  async #isIdle(): Promise<boolean> {
    const { recording } = this.#stage;
    const before = recording.progress;
    for (let turn = 0; turn < idleTurns; turn++) {
      await turnOfLoop();
      if (recording.progress !== before) return false;
    }
    return true;
  }

  /** Waits for code that works in real time. Returns true when something has happened. */
  async #isDoneInTime(): Promise<boolean> {
    const { recording } = this.#stage;
    if (this.#failure !== undefined) return false;
    const before = recording.progress;
    const { patienceMs = defaultPatienceMs, signal } = this.#parts.options;
    const isLive = this.#parts.options.model === 'live' || this.#goesOn;
    for (let waited = 0; (isLive && this.#runs.size > 0) || waited < patienceMs; waited += 2) {
      await new Promise<void>((resolve) => void systemClock.setTimer(2, resolve));
      signal?.throwIfAborted();
      if (recording.progress !== before) return true;
    }
    return false;
  }

  /** Notes that a recorded event did not come. */
  #missing(event: Event): void {
    const { recording } = this.#stage;
    const failure = this.#failure === undefined ? undefined : toErrorRecord(this.#failure);
    const why = failure === undefined ? '' : `: ${failure.message.replace(/\.$/, '')}`;
    const instead =
      recording.unrecorded === undefined || why !== ''
        ? ''
        : `; ${nameOf(recording.unrecorded)} came, which is not recorded`;
    const subject = `${capital(nameOf(event))} is recorded, and it does not come${why}${instead}`;
    const replayed =
      failure === undefined
        ? {}
        : { replayed: { error: { code: failure.code, message: failure.message } } as JsonValue };
    recording.diverge({
      seq: event.seq,
      path: event.invocationId ?? '',
      kind: 'control_flow',
      subject,
      recorded: comparableOf(event),
      ...replayed,
      differences: [],
    });
  }
}
