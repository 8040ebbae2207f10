import type { Store } from 'adjutant';
import fc from 'fast-check';
import type {
  LedgerStore,
  PostOptions,
  RebuiltTurn,
  TakeOptions,
  TurnPatch,
  TurnScope,
} from '../../../src/ledger/port.ts';

/** Session of a tenant. */
interface Place {
  readonly tenant: string;
  readonly session: string;
}

type Asked = Omit<TakeOptions, 'app' | 'owner' | 'ttlMs'>;

/** One operation, as it is performed on every store. */
export type Operation =
  | ({ readonly name: 'post'; readonly item: number; readonly isControl: boolean } & Place & {
        readonly options: PostOptions;
      })
  | { readonly name: 'take'; readonly options: Asked }
  | ({ readonly name: 'claim'; readonly force: boolean } & Place)
  /** Of the claim at this place, counted from the last one. */
  | {
      readonly name: 'release';
      readonly claim: number;
      readonly turn?: TurnPatch;
      readonly sees: boolean;
    }
  | {
      readonly name: 'append';
      readonly claim: number;
      readonly consumes: boolean;
      readonly wakeIn?: number | null;
      readonly turn?: TurnPatch;
      readonly sendsTo?: string;
    }
  | ({ readonly name: 'delete' } & Place)
  /** `since` and `rests` are told from now on. */
  | ({ readonly name: 'replace'; readonly turn: RebuiltTurn | null } & Place)
  | ({ readonly name: 'explain'; readonly scope: TurnScope } & Place)
  | { readonly name: 'advance'; readonly ms: number };

// Names that not every database can hold as they are.
const tenant = fc.constantFrom('acme', 'zeta\0');
const session = fc.constantFrom('s1', 's2', 's3', 's\\4\0', 's5', 's6');
const place = { tenant, session };
const queue = fc.constantFrom('default', 'night\0ly');
const level = fc.nat({ max: 4 });
const weight = fc.constantFrom(1, 2, 0.5);

/** An object in which each member may be missing. */
function partly<Members extends object>(
  members: {
    [Name in keyof Members]: fc.Arbitrary<Members[Name]>;
  },
): fc.Arbitrary<Partial<Members>> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Partial<Members>>;
}

const key = fc
  .tuple(fc.constantFrom('k', 'l\0'), fc.constantFrom('turn' as const, 'task' as const))
  .map(([name, hold]) => ({ name, limit: name === 'k' ? 1 : 2, hold }));
const rate = fc
  .constantFrom('r', 'q\0')
  .map((name) => ({ name, limit: name === 'r' ? 3 : 1, perMs: 1_000 }));

/** Instants of patches are told from now on; `performOn` turns them into the store's. */
const patch: fc.Arbitrary<TurnPatch> = partly<TurnPatch>({
  queue,
  level,
  requester: fc.constantFrom('ann', 'bob\0'),
  runnable: fc.constantFrom('', 'mailer', 'writer\\'),
  key,
  rate,
  softMs: fc.constantFrom(500, 20_000),
  hardMs: fc.constantFrom(900, 50_000),
  coalesceKey: fc.constantFrom('c', 'd\0'),
  estimateMs: fc.constantFrom(10, 700.5),
  to: fc.constantFrom('ready' as const, 'resting' as const, 'none' as const),
  at: fc.constantFrom(0, 700, 30_000),
  toFront: fc.boolean(),
  suspended: fc.boolean(),
  leave: fc.boolean(),
});
/** A patch as most tasks are submitted: few settings, and ready at once. */
const submitted: fc.Arbitrary<TurnPatch> = fc
  .tuple(patch, fc.boolean())
  .map(([{ to, leave, suspended, ...rest }, isDelayed]) => {
    const { at, ...now } = rest;
    return isDelayed ? rest : now;
  });

const names = fc.subarray(['mailer', 'writer\\']);
const queues = fc.subarray(['default', 'night\0ly'], { minLength: 1 });
const queueLimits = fc.constantFrom({ default: 1 }, { default: 2, 'night\0ly': 1 });
const weights = fc
  .tuple(weight, weight)
  .map(([acme, ann]) => ({ tenants: { acme }, requesters: { ann } }));
const scopeOfTurns = { names, queues, queueLimits, weights };
const admit = partly({
  levels: fc.constant([null, 3, 2]),
  total: fc.constantFrom(4, 8),
  tenant: fc.constantFrom(3, 6),
  requester: fc.constantFrom(2, 4),
});

const post = fc.record({
  name: fc.constant('post' as const),
  ...place,
  item: fc.nat({ max: 40 }),
  isControl: fc.boolean(),
  options: fc
    .tuple(
      fc.record({ turn: fc.oneof(submitted, submitted, patch) }),
      partly<PostOptions>({ wakes: fc.boolean(), admit }),
      fc.nat({ max: 5 }),
    )
    .map(([turn, more, plain]) => ({ ...(plain === 0 ? {} : turn), ...more, open: plain !== 1 })),
});
const take = fc.record({
  name: fc.constant('take' as const),
  options: fc
    .tuple(
      fc.record({ slots: fc.nat({ max: 4 }), ticket: fc.nat({ max: 60 }).map(String) }),
      partly({ ...scopeOfTurns, tenant, realtimeSlots: fc.nat({ max: 2 }) }),
      fc.option(fc.subarray([0, 1, 2, 3, 4]), { nil: undefined }),
    )
    .map(([asked, more, levels]) => ({
      ...asked,
      ...more,
      ...(levels === undefined ? {} : { levels }),
    })),
});
/** Mostly a claim that is still the last one of its session. */
const claim = { claim: fc.nat({ max: 5 }) };
const release = fc
  .tuple(fc.record(claim), partly({ turn: patch }), fc.boolean())
  .map(([of, more, sees]) => ({ name: 'release' as const, ...of, ...more, sees }));
const append = fc
  .tuple(
    fc.record(claim),
    partly({
      wakeIn: fc.constantFrom(null, 0, 900, 40_000),
      turn: patch,
      sendsTo: session,
    }),
    fc.boolean(),
  )
  .map(([of, more, consumes]) => ({ name: 'append' as const, ...of, ...more, consumes }));

const rebuilt: fc.Arbitrary<RebuiltTurn> = fc
  .tuple(
    patch,
    fc.record({ since: fc.constantFrom(-70_000, -500, 0) }),
    partly<Omit<RebuiltTurn, 'since'>>({
      rests: fc.constantFrom(null, 'until_wake' as const, 700, 30_000),
      interests: fc.constantFrom(1, 2),
      holds: fc.boolean(),
      attempts: fc.constantFrom(1, 3),
    }),
  )
  .map(([{ at, leave, to, ...settings }, since, more]) => ({ ...settings, ...since, ...more }));
const replace = fc
  .tuple(fc.record(place), fc.option(rebuilt))
  .map(([of, turn]) => ({ name: 'replace' as const, ...of, turn }));

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 10, arbitrary: post },
  { weight: 8, arbitrary: take },
  { weight: 4, arbitrary: release },
  { weight: 3, arbitrary: append },
  {
    weight: 1,
    arbitrary: fc.record({ name: fc.constant('claim' as const), ...place, force: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('delete' as const), ...place }) },
  { weight: 3, arbitrary: replace },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.record(place), partly(scopeOfTurns))
      .map(([of, scope]) => ({ name: 'explain' as const, ...of, scope })),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(1, 334, 1_000, 31_000, 70_000, 400_000)
      .map((ms) => ({ name: 'advance' as const, ms })),
  },
) as fc.Arbitrary<Operation>;

export const operations: fc.Arbitrary<readonly Operation[]> = fc.array(operation, {
  maxLength: 60,
  size: 'max',
});

const ttlMs = 60_000;
const owner = 'worker';

/** Performs operations on the app of one run, and says what they returned. */
export class Performer {
  readonly #store: Store;
  readonly #app: string;
  /** The last claim of each session, in their order. */
  readonly #claims = new Map<string, Place & { readonly epoch: number }>();

  constructor(store: Store, app: string) {
    this.#store = store;
    this.#app = app;
  }

  /** The result of an operation, or its refusal, and the turns after it. */
  async perform(operation: Operation, now: number): Promise<unknown> {
    let result: unknown;
    try {
      result = await this.#act(operation, now);
    } catch (error) {
      const { code, data } = error as { readonly code?: string; readonly data?: unknown };
      if (code === undefined || code === 'store_unavailable') throw error;
      result = { code, data };
    }
    const both = ['acme', 'zeta\0'].map((tenant) => this.#ledgers(tenant));
    const turns = await Promise.all(both.map((ledgers) => ledgers.turns()));
    return JSON.parse(JSON.stringify({ result: result ?? null, turns })) as unknown;
  }

  /** All that is stored beside turns. */
  async rest(): Promise<unknown> {
    const both = ['acme', 'zeta\0'].map(async (tenant) => {
      const ledgers = this.#ledgers(tenant);
      const sends = (await ledgers.sends()).map(({ number, ...send }) => send);
      return { due: await ledgers.due(), rows: await ledgers.rows({ kind: 'task' }), sends };
    });
    return JSON.parse(JSON.stringify(await Promise.all(both))) as unknown;
  }

  #ledgers(tenant: string): LedgerStore {
    return this.#store.for({ tenant, app: this.#app });
  }

  async #act(operation: Operation, now: number): Promise<unknown> {
    if (operation.name === 'advance') return null;
    if (operation.name === 'take') return this.#take(operation);
    if (operation.name === 'release') return this.#release(operation, now);
    if (operation.name === 'append') return this.#append(operation, now);
    const { tenant, session } = operation;
    const ledgers = this.#ledgers(tenant);
    switch (operation.name) {
      case 'post':
        return this.#post(ledgers, operation, now);
      case 'claim': {
        const claim = await ledgers.claim(session, owner, { ttlMs, force: operation.force });
        this.#claimed({ tenant, session, epoch: claim.epoch });
        return claim;
      }
      case 'delete':
        return ledgers.delete(session);
      case 'replace':
        return this.#replace(ledgers, operation, now);
      case 'explain':
        return ledgers.explainTurn(session, operation.scope);
    }
  }

  async #replace(
    ledgers: LedgerStore,
    { session, tenant, turn }: Operation & { readonly name: 'replace' },
    now: number,
  ): Promise<unknown> {
    const head = await ledgers.head(session);
    if (head === undefined) return null;
    const rests = turn?.rests;
    const placed = turn && {
      ...turn,
      since: now + turn.since,
      ...(typeof rests === 'number' ? { rests: now + rests } : {}),
    };
    const at = { tenant, app: this.#app, session };
    return this.#store.admin.replaceRows(at, head, { turn: placed });
  }

  async #take({ options }: Operation & { readonly name: 'take' }): Promise<unknown> {
    const asked = { ...options, app: this.#app, owner, ttlMs };
    const receipt = await this.#store.admin.take(asked);
    for (const { tenant, session, epoch } of receipt.taken)
      this.#claimed({ tenant, session, epoch });
    return receipt;
  }

  #claimed(claim: Place & { readonly epoch: number }): void {
    const name = `${claim.tenant} ${claim.session}`;
    this.#claims.delete(name);
    this.#claims.set(name, claim);
  }

  #claim(number: number): Place & { readonly epoch: number } {
    const claims = [...this.#claims.values()].reverse();
    return claims[number % claims.length] ?? { tenant: 'acme', session: 's1', epoch: 1 };
  }

  #post(
    ledgers: LedgerStore,
    { item, isControl, options, session }: Operation & { readonly name: 'post' },
    now: number,
  ): Promise<unknown> {
    const posted = {
      key: `item ${item}`,
      lane: isControl ? ('control' as const) : ('input' as const),
      by: 'runtime' as const,
      at: now,
      type: 'user' as const,
      data: { text: String(item) },
    };
    const row = { kind: 'task', id: `${session} ${item}`, status: 'open', at: now, body: { item } };
    const turn = options.turn && { turn: inTime(options.turn, now) };
    return ledgers.post(session, posted, { ...options, ...turn, rows: [row] });
  }

  #release(
    { claim: number, sees, turn }: Operation & { readonly name: 'release' },
    now: number,
  ): Promise<unknown> {
    const { tenant, session, epoch } = this.#claim(number);
    const claim = { session, owner, epoch, seq: 0, inboxSeq: 0, until: 0, now };
    return this.#ledgers(tenant).release(claim, {
      ...(turn === undefined ? {} : { turn: inTime(turn, now) }),
      ...(sees ? {} : { inboxSeq: 0 }),
    });
  }

  async #append(operation: Operation & { readonly name: 'append' }, now: number): Promise<unknown> {
    const { consumes, wakeIn, turn, sendsTo } = operation;
    const { tenant, session, epoch } = this.#claim(operation.claim);
    const ledgers = this.#ledgers(tenant);
    const exists = (await ledgers.head(session)) !== undefined;
    const inbox = consumes && exists ? await ledgers.inbox(session) : [];
    const item = { key: 'sent', lane: 'input', by: 'runtime', at: now, type: 'user' } as const;
    const sends = sendsTo && [
      { to: sendsTo, open: true, item: { ...item, data: { text: 'sent' } } },
    ];
    return ledgers.append(
      session,
      { seq: 0, epoch },
      {
        events: [],
        consumes: inbox.map(({ position }) => position),
        ...(wakeIn === undefined ? {} : { wakeAt: wakeIn === null ? null : now + wakeIn }),
        ...(turn === undefined ? {} : { turn: inTime(turn, now) }),
        ...(sends === undefined || sends === '' ? {} : { sends }),
      },
    );
  }
}

function inTime(patch: TurnPatch, now: number): TurnPatch {
  return patch.at === undefined ? patch : { ...patch, at: now + patch.at };
}
