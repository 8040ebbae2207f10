import { isDeepStrictEqual } from 'node:util';
import type { AnswerMark, Event } from 'adjutant';
import type { Principal } from '../../access/principal.ts';
import { Bounded } from './bounded.ts';
import { ReplayTurns } from './replay-turns.ts';
import {
  eventName,
  ready,
  type SessionAddress,
  SessionFolds,
  sessionKey,
} from './session-folds.ts';
import { allFrames, type Encoding, type Piece, type Telling } from './telling.ts';

/** Encoded section of a ledger, written once for all its readers. */
export interface Chunk<State, Written> extends Piece<Written> {
  /** `seq` of the last event. */
  readonly to: number;
  readonly before: State;
  readonly after: State;
  readonly marks: readonly AnswerMark[];
  readonly isOver: boolean;
}

/** A telling at some place of a ledger. */
export interface Place<State> {
  readonly seq: number;
  readonly state: State;
}

interface Known {
  readonly key: string;
  /** The last event that something was written of. */
  last: { readonly seq: number; readonly name: string } | undefined;
}

/** Events of a chunk: readers who come in between join the others at the next multiple. */
const eventsPerChunk = 256;
/** Characters after which a chunk ends, and after which no further one is made at once. */
const chunkLength = 65_536;
const longestBuild = 1_048_576;
/**
 * Characters of chunks that are kept, of all sessions together; and sessions of which something is
 * known.
 */
const roomForChunks = 16_777_216;
const mostSessions = 4_096;

/** Replays of ledgers: made by turns, and once for all readers of the same stream. */
export class Replays {
  readonly folds = new SessionFolds();
  readonly #turns: ReplayTurns;
  readonly #known = new Bounded<Known>(mostSessions);
  readonly #chunks = new Bounded<Chunk<unknown, unknown>>(roomForChunks);
  readonly #underWay = new Map<string, Promise<Chunk<unknown, unknown> | undefined>>();
  #sessions = 0;

  /** @param limit pieces of work that are done for one caller at a time */
  constructor(limit: number) {
    this.#turns = new ReplayTurns(limit);
  }

  /**
   * Does work that grows with a ledger when it is its caller's turn. `undefined`: the signal
   * aborted before.
   */
  inTurn<Result>(
    { tenant, id }: Pick<Principal, 'id' | 'tenant'>,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    return this.#turns.during(JSON.stringify([tenant, id]), signal, work);
  }

  /** As `inTurn`, for what is answered. @throws the reason of the signal, when it aborts before */
  async answerInTurn<Result>(
    principal: Pick<Principal, 'id' | 'tenant'>,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const done = await this.inTurn(principal, signal, async () => ({ result: await work() }));
    if (done === undefined) throw signal.reason;
    return done.result;
  }

  /** Keeps nothing of a session, as when it is deleted. */
  forget(address: SessionAddress): void {
    this.folds.forget(address);
    const key = sessionKey(address);
    const known = this.#known.get(key);
    this.#known.delete(key);
    if (known !== undefined) this.#chunks.deleteAll(known.key);
  }

  /**
   * Returns the kept replay of a session, if its ledger is still that one. Each reader asks for it
   * before its first chunk.
   */
  async of(address: SessionAddress): Promise<SessionReplay> {
    const key = sessionKey(address);
    let known = this.#known.get(key);
    if (known !== undefined && !(await isOf(address, known))) {
      this.#chunks.deleteAll(known.key);
      if (this.#known.get(key) === known) this.#known.delete(key);
      known = this.#known.get(key);
    }
    if (known === undefined) {
      known = { key: `${++this.#sessions} `, last: undefined };
      this.#known.set(key, known, 1);
    }
    const of = known;
    return {
      next: (telling, encoding, place, upTo) =>
        this.#next({ address, known: of, telling, encoding, place, upTo }),
    };
  }

  async #next<State, Written>(
    wanted: Wanted<State, Written>,
  ): Promise<Chunk<State, Written> | undefined> {
    const { known, telling, encoding, place } = wanted;
    const key = `${known.key}${encoding.name} ${place.seq} ${telling.name}`;
    const fits = (chunk: Chunk<unknown, unknown> | undefined): chunk is Chunk<State, Written> =>
      chunk !== undefined &&
      (chunk.before === place.state || isDeepStrictEqual(chunk.before, place.state));
    // Nothing is awaited when there is neither: another reader of the same turn would make it too.
    let kept = this.#chunks.get(key);
    const underWay = this.#underWay.get(key);
    if (kept === undefined && underWay !== undefined) kept = await underWay;
    if (fits(kept)) return kept;
    const making = this.#make(wanted);
    if (!this.#underWay.has(key)) this.#underWay.set(key, making);
    try {
      return await making;
    } finally {
      if (this.#underWay.get(key) === making) this.#underWay.delete(key);
    }
  }

  async #make<State, Written>(
    wanted: Wanted<State, Written>,
  ): Promise<Chunk<State, Written> | undefined> {
    const { address, known, telling, encoding, place } = wanted;
    const { chunks, last } = await written(wanted);
    // It was read from the ledger that is known only if that one is still there.
    if (!(await isOf(address, known))) return undefined;
    if (last !== undefined && last.seq > (known.last?.seq ?? 0)) known.last = last;
    let { seq } = place;
    for (const { chunk, size } of chunks) {
      this.#chunks.set(`${known.key}${encoding.name} ${seq} ${telling.name}`, chunk, size);
      seq = chunk.to;
    }
    return chunks[0]?.chunk;
  }
}

/** Replay of one session. */
export interface SessionReplay {
  /**
   * Returns the frames after a position.
   * @returns `undefined` when it cannot be replayed: the ledger is another one by now, or the
   * following events cannot be read
   */
  next<State, Written>(
    telling: Telling<State>,
    encoding: Encoding<Written>,
    place: Place<State>,
    upTo: number,
  ): Promise<Chunk<State, Written> | undefined>;
}

interface Wanted<State, Written> {
  readonly address: SessionAddress;
  readonly known: Known;
  readonly telling: Telling<State>;
  readonly encoding: Encoding<Written>;
  readonly place: Place<State>;
  readonly upTo: number;
}

/** True when the ledger of a session is the one that the kept state belongs to. */
async function isOf({ app, session }: SessionAddress, { last }: Known): Promise<boolean> {
  if (last === undefined) return true;
  for await (const event of app.sessions.events(session, { after: last.seq - 1, upTo: last.seq }))
    return eventName(event) === last.name;
  return false;
}

/** Writes what comes behind a place, up to the next border of chunks. */
async function written<State, Written>({
  address: { app, session },
  telling,
  encoding,
  place,
  upTo,
}: Wanted<State, Written>) {
  const border = Math.min(upTo, (Math.floor(place.seq / eventsPerChunk) + 1) * eventsPerChunk);
  const chunks: { readonly chunk: Chunk<State, Written>; readonly size: number }[] = [];
  let last: Known['last'];
  let open = new OpenChunk<State, Written>(place, encoding);
  let length = 0;
  for await (const event of app.sessions.events(session, { after: place.seq, upTo: border })) {
    if (event.type === 'unreadable') break;
    const isOver = open.add(telling, await ready(telling, event));
    last = { seq: event.seq, name: eventName(event) };
    if (!isOver && open.length < chunkLength) continue;
    length += open.length;
    chunks.push(open.closed());
    if (isOver || length >= longestBuild) return { chunks, last };
    open = open.following();
  }
  if (!open.isEmpty) chunks.push(open.closed());
  return { chunks, last };
}

/** A chunk that is being made. */
class OpenChunk<State, Written> {
  readonly #encoding: Encoding<Written>;
  readonly #before: State;
  readonly #texts: string[] = [];
  readonly #marks: AnswerMark[] = [];
  #seq: number;
  #state: State;
  #length = 0;
  #isOver = false;
  #isEmpty = true;

  constructor({ seq, state }: Place<State>, encoding: Encoding<Written>) {
    this.#encoding = encoding;
    this.#before = state;
    this.#seq = seq;
    this.#state = state;
  }

  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** @returns `true` when nothing comes after the event */
  add(telling: Telling<State>, event: Event): boolean {
    const told = telling.tell(this.#state, event);
    const { state, isOver = false } = told;
    for (const frame of allFrames(told)) {
      const text = this.#encoding.text(frame);
      this.#texts.push(text);
      this.#length += text.length;
    }
    const mark = markOf(event);
    if (mark !== undefined) this.#marks.push(mark);
    this.#state = state;
    this.#seq = event.seq;
    this.#isOver = isOver;
    this.#isEmpty = false;
    return isOver;
  }

  closed(): { readonly chunk: Chunk<State, Written>; readonly size: number } {
    const chunk = {
      to: this.#seq,
      before: this.#before,
      after: this.#state,
      written: this.#encoding.join(this.#texts),
      frames: this.#texts.length,
      marks: this.#marks,
      isOver: this.#isOver,
    };
    return { chunk, size: this.#length + sizeOfChunk + this.#marks.length * sizeOfMark };
  }

  following(): OpenChunk<State, Written> {
    return new OpenChunk({ seq: this.#seq, state: this.#state }, this.#encoding);
  }
}

/** Further size of a chunk and a mark, in bytes. */
const sizeOfChunk = 500;
const sizeOfMark = 150;

/** Where an answer begins or ends. */
function markOf(event: Event): AnswerMark | undefined {
  if (event.type !== 'model_start' && event.type !== 'model_end' && event.type !== 'invocation_end')
    return undefined;
  return { type: event.type, invocationId: event.invocationId, seq: event.seq };
}
