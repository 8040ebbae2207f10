import { QueueFullError } from '../../ledger/errors/turn-errors.ts';
import type { AdmissionLimits, PostOptions, TurnPatch } from '../../ledger/port.ts';
import type { Turn } from './turn.ts';
import { TurnChanges } from './turn-changes.ts';
import type { TurnTables } from './turn-tables.ts';

/** Place of the session that a post is for. */
export interface PostPlace {
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
  /** Number of the ledger; missing when the post makes it. */
  readonly ledger: number | undefined;
}

/** Decision on a post, made before anything of it is written. */
export type PostVerdict =
  | { readonly kind: 'post' }
  /** One of several interests in a turn ends, and nothing else. */
  | { readonly kind: 'left'; readonly turn: Turn }
  /** Another turn stands for this one too. */
  | { readonly kind: 'joined'; readonly turn: Turn };

/** The turns of posts. */
export class TurnPosts {
  readonly #tables: TurnTables;
  readonly #changes: TurnChanges;

  constructor(tables: TurnTables) {
    this.#tables = tables;
    this.#changes = new TurnChanges(tables);
  }

  /** @throws QueueFullError */
  judge(place: PostPlace, { turn: patch, admit }: PostOptions): PostVerdict {
    const { app, tenant, session } = place;
    const own = place.ledger === undefined ? undefined : this.#tables.turn(place.ledger);
    if (patch?.leave === true && own !== undefined && own.interests > 1)
      return { kind: 'left', turn: own };
    if (patch === undefined || own !== undefined) return { kind: 'post' };
    if (patch.run === undefined && patch.to === undefined) return { kind: 'post' };
    const { coalesceKey, level = 1, queue = 'default', requester = '' } = patch;
    if (coalesceKey !== undefined) {
      const turn = this.#tables.joinable({ app, tenant, requester, coalesceKey });
      if (turn !== undefined && turn.session !== session) return { kind: 'joined', turn };
    }
    if (admit !== undefined) this.#admit({ app, tenant, queue, level, requester }, admit);
    return { kind: 'post' };
  }

  #admit(
    turn: Pick<Turn, 'app' | 'tenant' | 'queue' | 'level' | 'requester'>,
    { levels, total, tenant, requester }: AdmissionLimits,
  ): void {
    const { app, queue, level } = turn;
    const ofTenant = { app, queue, tenant: turn.tenant };
    const checks = [
      ['level', levels?.[level] ?? undefined, { app, queue, level }],
      ['total', total, { app, queue }],
      ['tenant', tenant, ofTenant],
      ['requester', requester, { ...ofTenant, requester: turn.requester }],
    ] as const;
    for (const [limit, most, of] of checks)
      if (most !== undefined && this.#tables.countWaiting(of, most) >= most)
        throw new QueueFullError({
          queue,
          limit,
          most,
          ...(limit === 'level' ? { level } : {}),
        });
  }

  /** Ends one interest in a turn. */
  leave(turn: Turn): void {
    turn.interests -= 1;
    this.#tables.save(turn);
  }

  /** Lets a turn stand for another one too: at the better level and the earlier deadlines. */
  join(
    turn: Turn,
    { level = 1, softMs, hardMs }: NonNullable<PostOptions['turn']>,
    now: number,
  ): void {
    turn.interests += 1;
    const sooner = (at: number | undefined, ms: number | undefined): boolean =>
      ms !== undefined && (at === undefined || now + ms < at);
    this.#changes.patch(
      turn,
      {
        level: Math.min(turn.level, level),
        ...(sooner(turn.softAt, softMs) && softMs !== undefined ? { softMs } : {}),
        ...(sooner(turn.hardAt, hardMs) && hardMs !== undefined ? { hardMs } : {}),
      },
      now,
    );
  }

  /** Writes the turn of a post whose item was added. */
  posted(
    identity: Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'>,
    { turn, wakes = true }: PostOptions,
    isControl: boolean,
    now: number,
  ): void {
    if (turn !== undefined) this.#changes.patch(identity, this.#behind(identity, turn), now);
    // A patch that names the next state decides it.
    if (turn?.to === undefined) this.#changes.posted(identity.ledger, { isControl, wakes }, now);
  }

  /** The change by a task that another one of its session is before: it only betters the level. */
  #behind({ ledger }: Pick<Turn, 'ledger'>, patch: TurnPatch): TurnPatch {
    const turn = this.#tables.turn(ledger);
    if (turn?.run === undefined || patch.run === undefined || patch.run === turn.run) return patch;
    return { level: Math.min(turn.level, patch.level ?? 1) };
  }
}
