import { type EventOf, isAdjutantError, type JsonObject, type Store } from 'adjutant';
import type { Clock, IdSource } from 'adjutant/ports';
import { type Claim, type LedgerStore, processOwner } from 'adjutant/store';
import { defined } from 'adjutant/text';

/** An answer as it is kept. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** It was not kept, because it has a secret. */
  readonly withheld: boolean;
  /** The session that it is about, and goes with. */
  readonly session?: string | undefined;
  /** The session was deleted, and with it the rest of the answer. */
  readonly isDeleted?: true;
}

/** Recorded state of a key. */
interface KeptRequest {
  readonly fingerprint: string;
  /** Seed of the ids; another one when a key is used again after its time. */
  readonly seed: string;
  readonly at: number;
  readonly answer: KeptAnswer | undefined;
}

/**
 * Outcome of beginning a request under a key. Either nothing is to be done, because an answer
 * exists or is being made. Or the request is to be carried out and then settled, once for each key
 * at a time, in all processes.
 */
export type Beginning =
  | { readonly state: 'answered'; readonly answer: KeptAnswer }
  | { readonly state: 'other_request' }
  | { readonly state: 'under_way' }
  | {
      readonly state: 'begun';
      readonly seed: string;
      /** It was begun before, and its end is not known. */
      readonly isBegunBefore: boolean;
      /** Keeps the answer; without one, the same request will be carried out again. */
      settle(answer: KeptAnswer | undefined): Promise<void>;
    };

/** One request under a key. */
export interface KeyedRequest {
  readonly tenant: string;
  /** Names the key of one caller. */
  readonly record: string;
  readonly fingerprint: string;
  readonly by: EventOf<'decision'>['by'];
}

export interface KeptAnswersPorts {
  readonly store: Store;
  /** Name of the app whose requests these are. */
  readonly app: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Milliseconds. */
  readonly keepForMs: number;
}

/** Milliseconds after which the request of a process that is gone counts as ended. */
const leaseMs = 15_000;
const renewMs = 5_000;
/** Answers longer than this are kept as blobs, as ledgers keep all large values. */
const largestBody = 65_536;
const sweepPage = 100;

/**
 * The answers to writes under their `Idempotency-Key`: a ledger for each key in the app's own
 * store, under an app name of its own.
 */
export class KeptAnswers {
  readonly #ports: KeptAnswersPorts;

  constructor(ports: KeptAnswersPorts) {
    this.#ports = ports;
  }

  #ledgers(tenant: string): LedgerStore {
    const { store, app } = this.#ports;
    return store.for({ tenant, app: `${app}:http` });
  }

  /** @throws StoreUnavailableError */
  async begin(request: KeyedRequest): Promise<Beginning> {
    const ledgers = this.#ledgers(request.tenant);
    const known = judge(await this.#read(ledgers, request.record), request);
    if (known !== undefined) return known;
    // A name of its own for each, or two requests of this process would be one owner; it shows when
    // the process is gone.
    const owner = processOwner(this.#ports.ids);
    const claim = await ledgers.claim(request.record, owner, { ttlMs: leaseMs }).catch(unlessBusy);
    if (claim === undefined) return { state: 'under_way' };
    try {
      return await this.#claimed(ledgers, claim, request);
    } catch (error) {
      await ledgers.release(claim);
      if (isAdjutantError(error, 'ledger_conflict')) return { state: 'under_way' };
      throw error;
    }
  }

  async #claimed(ledgers: LedgerStore, claim: Claim, request: KeyedRequest): Promise<Beginning> {
    const before = claim.seq === 0 ? undefined : await this.#read(ledgers, request.record);
    const known = judge(before, request);
    if (known !== undefined) {
      await ledgers.release(claim);
      return known;
    }
    const seed = before?.seed ?? this.#ports.ids.next();
    const { session, seq, epoch } = claim;
    let head = { seq, epoch };
    if (before === undefined)
      head = await ledgers.append(session, head, {
        events: [this.#requestEvent(seq + 1, request, seed)],
        wakeAt: null,
      });
    const stopRenewing = this.#renew(ledgers, claim);
    return {
      state: 'begun',
      seed,
      isBegunBefore: before !== undefined,
      settle: async (answer) => {
        stopRenewing();
        try {
          if (answer !== undefined) await this.#keep(ledgers, session, head, request, answer);
        } finally {
          await ledgers.release(claim);
        }
      },
    };
  }

  /** Returns the recorded state of a key, unless its time is over. */
  async #read(ledgers: LedgerStore, record: string): Promise<KeptRequest | undefined> {
    let found: KeptRequest | undefined;
    try {
      for await (const page of ledgers.read(record)) {
        for (const event of page)
          if (event.type === 'decision')
            found = await folded({ ledgers, session: record }, found, event);
      }
    } catch (error) {
      if (isAdjutantError(error, 'session_not_found')) return undefined;
      throw error;
    }
    return found !== undefined && found.at + this.#ports.keepForMs > this.#ports.clock.now()
      ? found
      : undefined;
  }

  async #keep(
    ledgers: LedgerStore,
    session: string,
    head: Pick<Claim, 'seq' | 'epoch'>,
    { by }: KeyedRequest,
    answer: KeptAnswer,
  ): Promise<void> {
    const { status, headers, body, withheld } = answer;
    const bytes = Buffer.from(body);
    const isLarge = bytes.length > largestBody;
    const address = isLarge ? await ledgers.putBlob(bytes) : undefined;
    const data: JsonObject = {
      status,
      headers: { ...headers },
      withheld,
      ...(address === undefined ? { body } : { bodyAt: address }),
    };
    const event = this.#event(
      head.seq + 1,
      by,
      'answer',
      'The request was carried out; this is what its repetitions get.',
      data,
    );
    // The place of the runnable's name is free, and ledgers can be listed by it.
    const summary = {
      status: 'completed' as const,
      ...defined({ runnable: answer.session }),
    };
    const batch = {
      events: [event],
      ...(address === undefined ? {} : { blobs: [address] }),
      summary,
    };
    try {
      await ledgers.append(session, head, batch);
    } catch (error) {
      // It went with another answer of the same text, which was removed in between.
      if (!isLarge || !isAdjutantError(error, 'blob_missing')) throw error;
      await ledgers.putBlob(bytes);
      await ledgers.append(session, head, batch);
    }
  }

  #requestEvent(
    seq: number,
    { by, fingerprint }: Pick<KeyedRequest, 'by' | 'fingerprint'>,
    seed: string,
  ): EventOf<'decision'> {
    return this.#event(seq, by, 'request', 'The request is carried out, once under its key.', {
      fingerprint,
      seed,
    });
  }

  #event(
    seq: number,
    by: EventOf<'decision'>['by'],
    decision: string,
    reasoning: string,
    data: JsonObject,
  ): EventOf<'decision'> {
    const { ids, clock } = this.#ports;
    return {
      v: 1,
      seq,
      id: `evt_${ids.next()}`,
      at: clock.now(),
      type: 'decision',
      by,
      component: 'http',
      decision,
      reasoning,
      data,
    };
  }

  /** Keeps the lease until it is stopped. */
  #renew(ledgers: LedgerStore, claim: Claim): () => void {
    const { clock } = this.#ports;
    const again = (): (() => void) =>
      clock.setTimer(renewMs, () => {
        cancel = again();
        // A lease that is lost shows when the answer is kept.
        ledgers.renew(claim).catch(() => undefined);
      });
    let cancel = again();
    return () => cancel();
  }

  /**
   * Removes the answers about a session that is deleted. Their requests stay known: one that is
   * repeated must not be carried out again.
   * @throws StoreUnavailableError
   */
  async forget(tenant: string, session: string, by: KeyedRequest['by']): Promise<void> {
    const ledgers = this.#ledgers(tenant);
    for (;;) {
      const about = await ledgers.list({ order: 'updatedAt', runnable: session, limit: sweepPage });
      for (const { id } of about) await this.#forgetAnswer(ledgers, id, by);
      if (about.length < sweepPage) return;
    }
  }

  async #forgetAnswer(ledgers: LedgerStore, record: string, by: KeyedRequest['by']): Promise<void> {
    const known = await this.#read(ledgers, record);
    await ledgers.delete(record).catch(unlessGone);
    if (known === undefined) return;
    // Busy: the same request has come meanwhile.
    const claim = await ledgers
      .claim(record, processOwner(this.#ports.ids), { ttlMs: leaseMs })
      .catch(unlessBusy);
    if (claim === undefined) return;
    try {
      const { fingerprint, seed } = known;
      const request = this.#requestEvent(claim.seq + 1, { by, fingerprint }, seed);
      const data: JsonObject = {
        status: 410,
        headers: {},
        withheld: false,
        body: '',
        isDeleted: true,
      };
      const answer = this.#event(
        claim.seq + 2,
        by,
        'answer',
        'The answer went with the session that it was about.',
        data,
      );
      await ledgers.append(record, claim, {
        events: [request, answer],
        wakeAt: null,
        summary: { status: 'completed' },
      });
    } finally {
      await ledgers.release(claim);
    }
  }

  /**
   * Removes answers whose time is over.
   * @returns number of removed keys
   * @throws StoreUnavailableError
   */
  async sweep(tenant: string, signal: AbortSignal): Promise<number> {
    const ledgers = this.#ledgers(tenant);
    const cutoff = this.#ports.clock.now() - this.#ports.keepForMs;
    let removed = 0;
    for (;;) {
      const old = await ledgers.list({
        order: 'updatedAt',
        before: { updatedAt: cutoff, createdAt: cutoff, id: '' },
        limit: sweepPage,
      });
      for (const { id } of old) {
        if (signal.aborted) return removed;
        await ledgers.delete(id).catch(unlessGone);
        removed += 1;
      }
      if (old.length < sweepPage) return removed;
    }
  }
}

/** Decides a request by the recorded state of its key; `undefined`: it is to be carried out. */
function judge(
  known: KeptRequest | undefined,
  { fingerprint }: KeyedRequest,
): Beginning | undefined {
  if (known === undefined) return undefined;
  if (known.fingerprint !== fingerprint) return { state: 'other_request' };
  return known.answer === undefined ? undefined : { state: 'answered', answer: known.answer };
}

async function folded(
  { ledgers, session }: { readonly ledgers: LedgerStore; readonly session: string },
  found: KeptRequest | undefined,
  { decision, data, at }: EventOf<'decision'>,
): Promise<KeptRequest | undefined> {
  if (decision === 'request')
    return {
      fingerprint: String(data?.['fingerprint']),
      seed: String(data?.['seed']),
      at,
      answer: undefined,
    };
  if (found === undefined || decision !== 'answer') return found;
  const { status, headers, body, bodyAt, withheld, isDeleted } = data as JsonObject;
  const text =
    typeof bodyAt === 'string'
      ? Buffer.from(await ledgers.getBlob(bodyAt, session)).toString('utf8')
      : String(body);
  const answer = {
    status: Number(status),
    headers: headers as Record<string, string>,
    body: text,
    withheld: withheld === true,
  };
  return { ...found, answer: isDeleted === true ? { ...answer, isDeleted } : answer };
}

function unlessBusy(error: unknown): undefined {
  if (!isAdjutantError(error, 'session_busy')) throw error;
}

function unlessGone(error: unknown): void {
  if (!isAdjutantError(error, 'session_not_found')) throw error;
}
