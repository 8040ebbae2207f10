import type { Principal } from '../access/principal.ts';
import { overloaded, RequestRefusedError } from '../http/problem.ts';
import type { ServerMetrics, StreamKind } from '../metrics/metrics.ts';

/** Seconds after which a caller with too many streams may try again. */
const retryAfterSeconds = 5;

/**
 * A place among the streams of a caller, which is the stream's from when it is open on: called, it
 * is free again. Called again it does nothing.
 */
export type HeldPlace = () => void;

/** The streams that are open, and how many each caller has. */
export class OpenStreams {
  readonly #limit: number;
  readonly #limitInAll: number;
  #open = 0;
  readonly #metrics: Pick<ServerMetrics, 'streamOpened' | 'streamClosed'>;
  readonly #counts = new Map<string, number>();

  /** Takes the limits of the streams of one caller, and of all callers. */
  constructor(
    { streams, streamsInAll }: { readonly streams: number; readonly streamsInAll: number },
    metrics: Pick<ServerMetrics, 'streamOpened' | 'streamClosed'>,
  ) {
    this.#limit = streams;
    this.#limitInAll = streamsInAll;
    this.#metrics = metrics;
  }

  /**
   * @throws RequestRefusedError `too_many_streams` (429) when the caller may not open another one,
   * `overloaded` (503) when nobody may
   */
  assertRoom(principal: Pick<Principal, 'id' | 'tenant'>): void {
    if ((this.#counts.get(nameOf(principal)) ?? 0) >= this.#limit) throw tooMany(this.#limit);
    if (this.#open >= this.#limitInAll)
      throw overloaded(`all ${this.#limitInAll} streams of this process are taken`);
  }

  /**
   * Counts an opened stream.
   * @returns function that counts the stream out; further calls do nothing
   * @throws RequestRefusedError `too_many_streams` (429)
   */
  open(principal: Pick<Principal, 'id' | 'tenant'>, kind: StreamKind): HeldPlace {
    this.assertRoom(principal);
    return this.count(principal, kind);
  }

  /**
   * Carries out what is to be answered with a stream once there is a place for it: what is refused
   * for want of one has done nothing. The place is that of the stream, and free again when nothing
   * comes of it.
   * @throws what `make` throws, RequestRefusedError `too_many_streams` (429)
   */
  async holding<Made>(
    principal: Pick<Principal, 'id' | 'tenant'>,
    make: (place: HeldPlace) => Promise<Made>,
  ): Promise<Made> {
    const place = this.open(principal, 'sse');
    try {
      return await make(place);
    } catch (error) {
      place();
      throw error;
    }
  }

  /** As `open`, for what `assertRoom` has let in. */
  count(principal: Pick<Principal, 'id' | 'tenant'>, kind: StreamKind): HeldPlace {
    const caller = nameOf(principal);
    const count = this.#counts.get(caller) ?? 0;
    this.#counts.set(caller, count + 1);
    this.#open += 1;
    this.#metrics.streamOpened(kind);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open -= 1;
      const left = (this.#counts.get(caller) ?? 1) - 1;
      if (left === 0) this.#counts.delete(caller);
      else this.#counts.set(caller, left);
      this.#metrics.streamClosed(kind);
    };
  }
}

function nameOf({ id, tenant }: Pick<Principal, 'id' | 'tenant'>): string {
  return JSON.stringify([tenant, id]);
}

function tooMany(limit: number): RequestRefusedError {
  const message =
    `You have ${limit} streams open, which is all that one caller may have. Close one and ` +
    'try again.';
  return new RequestRefusedError(
    429,
    'too_many_streams',
    message,
    { limit },
    { 'retry-after': String(retryAfterSeconds) },
  );
}
