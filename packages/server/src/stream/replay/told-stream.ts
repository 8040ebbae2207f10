import { type AnswerMark, isDurable } from 'adjutant';
import { systemTurns } from 'adjutant/ports';
import type { Principal } from '../../access/principal.ts';
import { ledgersOf } from '../../http/large-values.ts';
import type { SentFrame } from '../frame.ts';
import { withoutRead } from '../position.ts';
import { type Audience, reachOf, withinReach } from '../within-reach.ts';
import type { Place, Replays } from './replays.ts';
import { ready, type SessionAddress } from './session-folds.ts';
import { allFrames, type Encoding, type Piece, type Telling, type Told } from './telling.ts';

/** A stream of a session that begins at some place. */
export interface ToldSubject<State> extends Audience {
  readonly replays: Replays;
  /** Caller that the stream belongs to. */
  readonly principal: Pick<Principal, 'id' | 'tenant'>;
  readonly telling: Telling<State>;
  readonly place: Place<State>;
  /**
   * `seq` of the last event when the stream began. @default that of when its reader begins to read
   */
  readonly head?: number;
  /** Number of frames of the first event that were read before. @default 0 */
  readonly read?: number;
  /** Frames that come before all others. */
  readonly first?: readonly SentFrame[];
  /** Frame of a stream that ends early. */
  readonly interrupted?: SentFrame;
}

/** Events that a stream may be behind when it begins to follow what happens. */
const mostBehind = 256;
/** As many as a follower remembers. */
const mostMarks = 2_000;

type Pieces<Written> = AsyncGenerator<Piece<Written>, void, undefined>;

/**
 * Tells a session: what is past in large pieces, by turns and together with all who are told the
 * same, then what happens as it happens, which waits for nobody's replay.
 */
export async function* toldStream<State, Written>(
  subject: ToldSubject<State>,
  encoding: Encoding<Written>,
  signal: AbortSignal,
): Pieces<Written> {
  const { first = [], interrupted } = subject;
  const piece = (frames: readonly SentFrame[]): Piece<Written> => ({
    written: encoding.write(frames),
    frames: frames.length,
  });
  // Checked before the first frame: a run of another agent may have begun since the reader came.
  await reachOf(subject);
  if (first.length > 0) yield piece(first);
  const cut = await toldOfCut(subject);
  const rest =
    cut === undefined
      ? []
      : [
          ...withoutRead(cut.frames, subject.read ?? 0),
          ...(cut.aside === undefined ? [] : [cut.aside]),
        ];
  if (rest.length > 0) yield piece(rest);
  if (cut?.isOver === true) return;
  const place =
    cut === undefined ? subject.place : { seq: subject.place.seq + 1, state: cut.state };
  const past = yield* toldPast({ ...subject, place }, encoding, signal);
  if (past === undefined) return;
  const { app, session, telling } = subject;
  let { state } = past;
  if (signal.aborted) {
    if (interrupted !== undefined) yield piece([interrupted]);
    return;
  }
  for await (const event of withinReach(
    app.follow(session, { after: past.seq, signal, told: past.marks }),
    subject,
  )) {
    const told = telling.tell(state, isDurable(event) ? await ready(telling, event) : event);
    state = told.state;
    const frames = allFrames(told);
    if (frames.length > 0) yield piece(frames);
    if (told.isOver === true) return;
  }
  if (interrupted !== undefined) yield piece([interrupted]);
}

/**
 * The first event, if the reader has some of its frames: what is told to others has all of them.
 */
async function toldOfCut<State>({
  app,
  session,
  telling,
  place: { seq, state },
  read = 0,
}: ToldSubject<State>): Promise<Told<State> | undefined> {
  if (read === 0) return undefined;
  for await (const event of app.sessions.events(session, { after: seq, upTo: seq + 1 })) {
    if (event.type !== 'unreadable') return telling.tell(state, await ready(telling, event));
  }
  return undefined;
}

interface Past<State> extends Place<State> {
  readonly marks: readonly AnswerMark[];
}

/** @returns the place at which it goes on; `undefined` when the stream is complete */
async function* toldPast<State, Written>(
  subject: ToldSubject<State>,
  encoding: Encoding<Written>,
  signal: AbortSignal,
): AsyncGenerator<Piece<Written>, Past<State> | undefined, undefined> {
  const { app, session, replays, principal, telling, head } = subject;
  let { seq, state } = subject.place;
  let upTo = Math.min(
    head ?? (await ledgersOf(app).head(session))?.seq ?? 0,
    await reachOf(subject),
  );
  let marks: AnswerMark[] = [];
  const replay =
    seq < upTo
      ? await replays.inTurn(principal, signal, () => replays.of({ app, session }))
      : undefined;
  while (replay !== undefined && seq < upTo && !signal.aborted) {
    const at = { seq, state };
    const chunk = await replays.inTurn(principal, signal, () =>
      replay.next(telling, encoding, at, upTo),
    );
    if (chunk === undefined) break;
    const reach = await reachOf(subject);
    seq = chunk.to;
    state = chunk.after;
    marks.push(...chunk.marks);
    if (marks.length > mostMarks * 2) marks = marks.slice(-mostMarks);
    if (chunk.frames > 0) yield chunk;
    if (chunk.isOver) return undefined;
    await systemTurns.pass();
    // Events that came meanwhile are replayed as well, if they are many.
    if (seq >= upTo) upTo = Math.min(await newHead({ app, session }, seq), reach);
  }
  return { seq, state, marks };
}

async function newHead({ app, session }: SessionAddress, seq: number): Promise<number> {
  const head = (await ledgersOf(app).head(session))?.seq ?? seq;
  return head - seq > mostBehind ? head : seq;
}
