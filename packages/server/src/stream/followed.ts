import type { Runtime } from 'adjutant';
import type { Principal } from '../access/principal.ts';
import { ledgersOf } from '../http/large-values.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { runsOf } from '../runs/known-runs.ts';
import type { Profile, SentFrame } from './frame.ts';
import type { Position } from './position.ts';
import { type ProfileName, withProfile } from './profile-names.ts';
import type { Place, Replays } from './replay/replays.ts';
import type { Encoding, Piece, Telling } from './replay/telling.ts';
import { toldStream } from './replay/told-stream.ts';
import { runTelling, sessionTelling, waitingFrame } from './telling.ts';

/** Subject of the stream that a reader asks for. */
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
  follow<Written>(
    encoding: Encoding<Written>,
    signal: AbortSignal,
  ): AsyncGenerator<Piece<Written>, void, undefined>;
}

/** Reader of a stream, and the server's knowledge of the past. */
export interface StreamReader {
  readonly replays: Replays;
  readonly principal: Pick<Principal, 'id' | 'tenant'>;
  /** Aborts when the reader goes away before its stream begins. */
  readonly signal: AbortSignal;
}

/** A telling at the place where a reader goes on. */
interface Beginning<State> {
  readonly telling: Telling<State>;
  readonly place: Place<State>;
  readonly head: number;
  readonly first: readonly SentFrame[];
}

/**
 * Prepares a stream. What was told before its position follows from the ledger, so that any process
 * goes on exactly there.
 * @returns `undefined` when the run has ended and all of it was read
 * @throws RequestRefusedError `run_not_found` (404)
 */
export function followed(
  subject: StreamSubject,
  reader: StreamReader,
): Promise<FollowedStream | undefined> {
  return withProfile(subject.profile, (profile) => followedAs(profile, subject, reader));
}

async function followedAs<State>(
  profile: Profile<State>,
  subject: StreamSubject,
  reader: StreamReader,
): Promise<FollowedStream | undefined> {
  const { run } = subject;
  if (run !== undefined) {
    const begin = (): Promise<Beginning<unknown> | undefined> =>
      beginningOfRun(profile, subject, run, reader.replays);
    const beginning = await reader.replays.answerInTurn(reader.principal, reader.signal, begin);
    return beginning === undefined ? undefined : stream(subject, reader, beginning);
  }
  // The events as they are need nothing of what came before them.
  const isFolded = subject.profile !== 'native' && subject.position.after > 0;
  const begin = (): Promise<Beginning<State>> =>
    beginningOfSession(profile, subject, isFolded ? reader.replays : undefined);
  return stream(
    subject,
    reader,
    await (isFolded
      ? reader.replays.answerInTurn(reader.principal, reader.signal, begin)
      : begin()),
  );
}

async function beginningOfSession<State>(
  profile: Profile<State>,
  { app, session, profile: name, position: { after } }: StreamSubject,
  replays: Replays | undefined,
): Promise<Beginning<State>> {
  const telling = sessionTelling(name, profile);
  const head = (await ledgersOf(app).head(session))?.seq ?? 0;
  if (replays === undefined)
    return { telling, place: { seq: after, state: telling.start }, head, first: [] };
  const state = await replays.folds.stateAt({ app, session }, telling, 0, after);
  return { telling, place: { seq: after, state: profile.resumed(state) }, head, first: [] };
}

/** The runs of the session say where a run begins, and how far it has come. */
async function beginningOfRun<State>(
  profile: Profile<State>,
  { app, session, profile: name, position: { after } }: StreamSubject,
  run: string,
  replays: Replays,
): Promise<Beginning<unknown> | undefined> {
  const runs = await runsOf(replays, { app, session });
  const extent = runs.extentOf(run);
  if (extent === undefined)
    throw new RequestRefusedError(
      404,
      'run_not_found',
      `Session "${session}" has no run "${run}".`,
      { session, run },
    );
  const head = runs.seq;
  const before = extent.first - 1;
  const known = runTelling(name, profile, { session, run, reopenedAt: 0 });
  // Nothing that comes behind the last event of a run that has ended concerns it.
  const upTo = extent.isEnded ? extent.last : head;
  const now = await replays.folds.stateAt({ app, session }, known, before, upTo);
  if (now.run?.end !== undefined && now.run.end.seq <= after) return undefined;
  const seq = Math.max(after, before);
  const then = await replays.folds.stateAt({ app, session }, known, before, Math.min(seq, upTo));
  const telling = runTelling(name, profile, { session, run, reopenedAt: now.reopenedAt });
  const first = then.run?.status === 'waiting' ? [waitingFrame(session, run, then.run)] : [];
  const told = profile.resumed(then.told);
  // The same state object if possible: other readers of the rest share it.
  const state = told === then.told ? then : { ...then, told };
  return { telling, place: { seq, state }, head, first } as Beginning<unknown>;
}

function stream<State>(
  { app, session, agents, position }: StreamSubject,
  { replays, principal }: StreamReader,
  { telling, place, head, first }: Beginning<State>,
): FollowedStream {
  // Events before the first one of a run give none of its frames.
  const read = place.seq === position.after ? position.frames : 0;
  const subject = { app, session, agents, replays, principal, telling, place, head, first, read };
  return { follow: (encoding, signal) => toldStream(subject, encoding, signal) };
}
