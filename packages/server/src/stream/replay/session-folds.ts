import type { Event, Runtime, StoredEvent } from 'adjutant';
import { Bounded } from './bounded.ts';
import type { Telling } from './telling.ts';

/** A session of an app. */
export interface SessionAddress {
  readonly app: Runtime;
  readonly session: string;
}

/** Names a session of a process. */
export function sessionKey({ app, session }: SessionAddress): string {
  return JSON.stringify([app.tenant, app.app, session]);
}

/**
 * Names an event, so that the ledger it is in is known again: no other ledger has it but forks,
 * which have all that was before it as well.
 */
export function eventName(event: StoredEvent): string {
  return event.type === 'unreadable' ? `unreadable ${event.reason}` : event.id;
}

/** State of a session that grows with its events. */
export interface GrowingFold {
  add(event: StoredEvent): void | Promise<void>;
  /** About how many bytes it holds. */
  readonly size: number;
}

interface Growing<Fold> {
  fold: Fold;
  seq: number;
  /** Of the last event. */
  name: string;
  /** Ends when everything that was asked for until now is done. */
  last: Promise<unknown>;
}

interface Checkpoint<State> {
  readonly seq: number;
  readonly name: string;
  readonly state: State;
  /** About how many bytes it holds, of one that is kept. */
  readonly size?: number;
}

/** Something that was made of a whole ledger. */
interface MadeOfWhole<Made> {
  /** `seq` of the last event of the ledger. */
  readonly seq: number;
  /** Of that event. */
  readonly name: string;
  readonly made: Made;
}

/**
 * Bytes that folds which grow, and states at places, may hold of all sessions together, as far as
 * they can be told.
 */
const roomForFolds = 16_777_216;
/** Events between two states that are kept, and how many of one telling. */
const spacing = 1_024;
const mostCheckpoints = 64;

/**
 * Folds over ledgers that were made before, so that whoever comes back costs what has happened
 * since. They are the process's own, not the store's: their form may change with every version,
 * they are made anew in a second, and most are of sessions that nobody asks for again. Each is used
 * only if the ledger still has the event that it ended with.
 */
export class SessionFolds {
  readonly #growing = new Bounded<Growing<GrowingFold>>(roomForFolds);
  readonly #checkpoints = new Bounded<readonly Checkpoint<unknown>[]>(roomForFolds);
  readonly #wholes = new Bounded<MadeOfWhole<unknown>>(roomForFolds);

  /**
   * A fold over everything that the ledger has now. It grows further: what is asked of it after a
   * pause may be later news.
   */
  async upToNow<Fold extends GrowingFold>(
    address: SessionAddress,
    name: string,
    make: () => Fold,
  ): Promise<Fold> {
    const key = `${sessionKey(address)} ${name}`;
    const known = this.#growing.get(key) as Growing<Fold> | undefined;
    const growing: Growing<Fold> = known ?? {
      fold: make(),
      seq: 0,
      name: '',
      last: Promise.resolve(),
    };
    if (known === undefined) this.#growing.set(key, growing, growing.fold.size);
    const grown = growing.last.then(async () => {
      if (!(await grow(address, growing))) {
        Object.assign(growing, { fold: make(), seq: 0, name: '' });
        await grow(address, growing);
      }
    });
    growing.last = grown.catch(() => undefined);
    try {
      await grown;
    } catch (error) {
      this.#growing.delete(key);
      throw error;
    }
    this.#growing.set(key, growing, growing.fold.size);
    return growing.fold;
  }

  /**
   * The state of a telling right after an event, folded from the last state before it that is
   * known.
   * @param from where the telling begins: nothing before concerns it
   */
  async stateAt<State>(
    address: SessionAddress,
    telling: Telling<State>,
    from: number,
    upTo: number,
  ): Promise<State> {
    const key = `${sessionKey(address)} ${telling.name}`;
    const kept = (this.#checkpoints.get(key) ?? []) as readonly Checkpoint<State>[];
    const before = kept
      .filter(({ seq }) => seq <= upTo)
      .reduce<Checkpoint<State> | undefined>(
        (a, b) => (a === undefined || b.seq > a.seq ? b : a),
        undefined,
      );
    const found = before === undefined ? undefined : await foldTo(address, telling, before, upTo);
    const made =
      found ??
      (await foldTo(address, telling, { seq: from, name: '', state: telling.start }, upTo)) ??
      [];
    // Of another ledger: none of the states that are kept is of this one.
    const others =
      before !== undefined && found === undefined
        ? []
        : kept.filter(({ seq }) => made.every((one) => one.seq !== seq));
    const all = [...others, ...made.filter(({ name }) => name !== '')].slice(-mostCheckpoints);
    this.#checkpoints.set(
      key,
      all,
      all.reduce((sum, { size = 0 }) => sum + size, 0),
    );
    return made.at(-1)?.state ?? telling.start;
  }

  /**
   * Something that needs the whole ledger, and is made anew when that has grown: who reads it in
   * pages reads the ledger once.
   * @param last `seq` of the last event
   * @param make gives also the last event that it was made of, and about how many bytes it holds
   */
  async ofWhole<Made>(
    address: SessionAddress,
    name: string,
    last: number,
    make: () => Promise<{
      readonly made: Made;
      readonly last: StoredEvent | undefined;
      readonly size: number;
    }>,
  ): Promise<Made> {
    const key = `${sessionKey(address)} ${name}`;
    const kept = this.#wholes.get(key) as MadeOfWhole<Made> | undefined;
    if (kept !== undefined && kept.seq === last && (await nameAt(address, last)) === kept.name)
      return kept.made;
    const { made, last: event, size } = await make();
    if (event !== undefined)
      this.#wholes.set(key, { seq: event.seq, name: eventName(event), made }, size);
    return made;
  }

  /** Keeps nothing of a session, as when it is deleted. */
  forget(address: SessionAddress): void {
    const prefix = `${sessionKey(address)} `;
    this.#growing.deleteAll(prefix);
    this.#checkpoints.deleteAll(prefix);
    this.#wholes.deleteAll(prefix);
  }
}

/** The name of an event of a ledger. */
async function nameAt({ app, session }: SessionAddress, seq: number): Promise<string | undefined> {
  for await (const event of app.sessions.events(session, { after: seq - 1, upTo: seq }))
    return eventName(event);
  return undefined;
}

/** @returns `false` when the ledger is not the one that was folded */
async function grow(
  { app, session }: SessionAddress,
  growing: Growing<GrowingFold>,
): Promise<boolean> {
  let isKnown = growing.seq === 0;
  for await (const event of app.sessions.events(session, { after: Math.max(0, growing.seq - 1) })) {
    if (!isKnown) {
      if (event.seq !== growing.seq || eventName(event) !== growing.name) return false;
      isKnown = true;
      continue;
    }
    await growing.fold.add(event);
    growing.seq = event.seq;
    growing.name = eventName(event);
  }
  return isKnown;
}

/**
 * @returns the states that are worth being kept, the wanted one last; `undefined` when the ledger
 * is not the one that was folded
 */
async function foldTo<State>(
  { app, session }: SessionAddress,
  telling: Telling<State>,
  { seq: from, name: known, state: first }: Checkpoint<State>,
  upTo: number,
): Promise<readonly Checkpoint<State>[] | undefined> {
  const made: Checkpoint<State>[] = [];
  let isKnown = known === '';
  let last: Checkpoint<State> = { seq: from, name: known, state: first };
  for await (const event of app.sessions.events(session, {
    after: isKnown ? from : from - 1,
    upTo,
  })) {
    if (!isKnown) {
      if (event.seq !== from || eventName(event) !== known) return undefined;
      isKnown = true;
      continue;
    }
    const state =
      event.type === 'unreadable'
        ? last.state
        : telling.tell(last.state, await ready(telling, event)).state;
    last = { seq: event.seq, name: eventName(event), state };
    if (event.seq % spacing === 0) made.push(last);
  }
  if (!isKnown) return undefined;
  if (made.at(-1) !== last) made.push(last);
  return made.map((one) => (one.size === undefined ? { ...one, size: sizeOf(one.state) } : one));
}

/** An event as a telling wants it. */
export function ready<State>({ prepare }: Telling<State>, event: Event): Event | Promise<Event> {
  return prepare === undefined ? event : prepare(event);
}

const sizeOfAny = 200;

function sizeOf(state: unknown): number {
  return sizeOfAny + (JSON.stringify(state)?.length ?? 0);
}
