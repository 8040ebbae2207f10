import { type Event, isDurable, type Runtime, type StoredEvent, type StreamEvent } from 'adjutant';
import { RequestRefusedError } from '../http/problem.ts';
import type { SentFrame, Teller } from './frame.ts';
import { numbered, type Position, withoutRead } from './position.ts';
import { type ProfileName, tellerNamed } from './profile-names.ts';
import { concerns, isRoot, type RunState, runAfter, runOf } from './run-state.ts';
import { withinReach } from './within-reach.ts';

/** What a reader wants to be told. */
export interface StreamSubject {
  readonly app: Runtime;
  readonly session: string;
  /** Only what concerns this run. @default the whole session */
  readonly run?: string | undefined;
  /** The agents that the reader is bound to. `undefined`: all. */
  readonly agents: readonly string[] | undefined;
  readonly profile: ProfileName;
  readonly position: Position;
}

/** A stream that can be followed; the frames of one event come together. */
export interface FollowedStream {
  follow(signal: AbortSignal): AsyncGenerator<readonly SentFrame[], void, undefined>;
}

/** Where a stream begins, and what was told before. */
interface Prefix {
  readonly teller: Teller;
  readonly position: Position;
  readonly run: RunState | undefined;
  /** `seq` of the last event by which the run was opened again. */
  readonly reopenedAt: number;
}

/**
 * Prepares a stream. What was told before its position is folded from the ledger, so that any process goes on exactly there.
 * @returns `undefined` when the run has ended and all of it was read
 * @throws RequestRefusedError `run_not_found` (404)
 */
export async function followed(subject: StreamSubject): Promise<FollowedStream | undefined> {
  const { run } = subject;
  const prefix = run === undefined ? await sessionPrefix(subject) : await runPrefix(subject, run);
  if (prefix === undefined) return undefined;
  return { follow: (signal) => (run === undefined ? tellSession(subject, prefix, signal) : tellRun(subject, run, prefix, signal)) };
}

async function sessionPrefix({ app, session, profile, position }: StreamSubject): Promise<Prefix> {
  const teller = tellerNamed(profile);
  // The events as they are need nothing of what came before them.
  if (profile !== 'native' && position.after > 0) {
    for await (const event of app.events(session, { upTo: position.after })) if (isReadable(event)) teller.skip(event);
    teller.resume();
  }
  return { teller, position, run: undefined, reopenedAt: 0 };
}

/** The whole ledger is looked at: only it says where a run begins and ends. */
async function runPrefix({ app, session, profile, position }: StreamSubject, run: string): Promise<Prefix | undefined> {
  const teller = tellerNamed(profile);
  let state: RunState | undefined;
  let told: RunState | undefined;
  let reopenedAt = 0;
  for await (const event of app.events(session)) {
    if (!isReadable(event)) continue;
    const concerned = concerns(run, state, event);
    state = runAfter(run, state, event);
    if (event.type === 'invocation_reopen' && isRoot(event.invocationId) && runOf(event.invocationId) === run) reopenedAt = event.seq;
    if (event.seq > position.after) continue;
    told = state;
    if (concerned || runOf(event.invocationId ?? '') === run) teller.skip(event);
  }
  if (state === undefined) {
    throw new RequestRefusedError(404, 'run_not_found', `Session "${session}" has no run "${run}".`, { session, run });
  }
  if (state.end !== undefined && state.end.seq <= position.after) return undefined;
  teller.resume();
  const before = state.firstSeq - 1;
  return { teller, position: position.after < before ? { after: before, frames: 0 } : position, run: told, reopenedAt };
}

function isReadable(event: StoredEvent): event is Event {
  return event.type !== 'unreadable';
}

function eventsOf(subject: StreamSubject, { after }: Position, signal: AbortSignal): AsyncIterable<StreamEvent> {
  return withinReach(subject.app.follow(subject.session, { after, signal }), subject);
}

async function* tellSession(subject: StreamSubject, { teller, position }: Prefix, signal: AbortSignal): ReturnType<FollowedStream['follow']> {
  for await (const event of eventsOf(subject, position, signal)) {
    const frames = framesOf(teller, event, position);
    if (frames.length > 0) yield frames;
  }
}

/** Says of a run also when it waits, and ends with it. */
async function* tellRun(subject: StreamSubject, run: string, prefix: Prefix, signal: AbortSignal): ReturnType<FollowedStream['follow']> {
  const { session } = subject;
  const { teller, position, reopenedAt } = prefix;
  let state = prefix.run;
  if (state?.status === 'waiting') yield [waitingFrame(session, run, state)];
  for await (const event of eventsOf(subject, position, signal)) {
    const before = state;
    if (isDurable(event)) state = runAfter(run, state, event);
    if (!concerns(run, before, event)) continue;
    const frames = framesOf(teller, event, position);
    if (frames.length > 0) yield frames;
    if (!isDurable(event) || state === undefined || state === before) continue;
    if (state.status === 'waiting' && event.type === 'invocation_yield') yield [waitingFrame(session, run, state)];
    if (state.end === event && event.seq > reopenedAt) {
      yield [endFrame(session, run, state)];
      return;
    }
  }
}

function framesOf(teller: Teller, event: StreamEvent, { after, frames: read }: Position): readonly SentFrame[] {
  const frames = teller.tell(event);
  if (!isDurable(event)) return frames.map(({ event: name, data }) => ({ event: name, data }));
  const sent = numbered(event.seq, frames);
  return event.seq === after + 1 ? withoutRead(sent, read) : sent;
}

/** The run rests until somebody outside has said something. */
function waitingFrame(session: string, run: string, { reason, requests }: RunState): SentFrame {
  return { event: 'waiting', data: { session, run, reason, requests } };
}

/** The last frame of a run's stream. */
function endFrame(session: string, run: string, { status, end }: RunState): SentFrame {
  const { seq, output, error, stopReason } = end ?? {};
  return { event: 'end', data: { session, run, status, seq, output, error, stopReason } };
}
