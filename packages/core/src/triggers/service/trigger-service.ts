import { defined } from '../../base/defined.ts';
import { contentHash } from '../../base/hash.ts';
import type { JsonObject } from '../../base/json.ts';
import { describeValue, findInvalidOption, isCount, isNonEmptyText } from '../../base/options.ts';
import type { ServiceHost } from '../../engine/services/service.ts';
import { ServiceHistory } from '../../engine/services/service-history.ts';
import type { TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { ListedRow, StoredRow } from '../../ledger/port.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import { InvalidTriggerError } from '../errors.ts';
import { nextInstants } from '../schedules/next-instant.ts';
import type { Schedule } from '../schedules/schedule.ts';
import type { IncomingWebhook } from '../webhooks/verify-webhook.ts';
import {
  checkControl,
  listChecks,
  type TriggerControlOptions,
  type TriggerListOptions,
  triggerStatuses,
} from './call-options.ts';
import type { RunningChecks } from './condition-check.ts';
import { assertSameDelivery, verifiedDelivery } from './deliveries.ts';
import { TriggerNotFoundError, TriggerStateError } from './errors.ts';
import { turnName } from './missing-code.ts';
import {
  assertAhead,
  assertTold,
  changedOptions,
  declarationHash,
  type Trigger,
  type TriggerOptions,
  trigger,
} from './trigger.ts';
import { historyEntry, type TriggerHistoryEntry } from './trigger-history.ts';
import { declarationOf, type TriggerInfo, triggerInfo, triggerKind } from './trigger-row.ts';
import type { TriggerStatus } from './trigger-state.ts';
import { writtenRow } from './written-row.ts';

const undeleted = triggerStatuses.slice(0, 4);

interface TriggerServiceParts {
  readonly host: ServiceHost;
  readonly tenant: string;
  readonly checks: RunningChecks;
}

/** Triggers of one tenant: `app.triggers`. */
export class TriggerService {
  readonly #parts: TriggerServiceParts;
  readonly #host: ServiceHost;
  readonly #tenant: string;
  readonly #declared: ReadonlyMap<string, Trigger>;

  constructor(parts: TriggerServiceParts, declared: ReadonlyMap<string, Trigger>) {
    this.#parts = parts;
    this.#host = parts.host;
    this.#tenant = parts.tenant;
    this.#declared = declared;
  }

  /** Triggers in the order in which they were made. */
  async list(options: TriggerListOptions = {}): Promise<readonly TriggerInfo[]> {
    const invalid = findInvalidOption(options, listChecks);
    if (invalid !== undefined) throw refusal('list', invalid.reason);
    const { limit = 100, requester: user, statuses = undeleted } = options;
    const filter = { kind: triggerKind, statuses, limit, ...defined({ user }) };
    const rows = await this.#ledgers.rows(filter);
    return rows.map(triggerInfo);
  }

  /** @throws TriggerNotFoundError */
  async get(name: string): Promise<TriggerInfo> {
    return triggerInfo(await this.#row(name));
  }

  /**
   * Makes a trigger by data alone, without functions: on a schedule or on published events. It is
   * stored, and any worker of the app fires it.
   * @throws InvalidTriggerError; TriggerStateError when there is one of this name
   */
  async create(options: TriggerOptions, control: TriggerControlOptions = {}): Promise<TriggerInfo> {
    checkControl('create', control);
    const { declaration } = this.#ofData('create', options);
    const { name } = declaration;
    await syncClock(this.#host.clock, this.#ledgers);
    assertAhead(declaration, this.#host.clock.now());
    const row = await this.#find(name);
    if (row !== undefined && row.status !== 'deleted')
      throw new TriggerStateError({ trigger: name, status: row.status, refused: 'created again' });
    const hash = declarationHash(declaration);
    const key = this.#host.ids.next();
    await this.#declare(declaration, key, control, { hash, revises: 0 });
    return this.#settled(name, hash, 'created again');
  }

  /**
   * Changes a trigger: the options that are given take the place of those it has, and one that is
   * given as `undefined` is taken away. Nothing before the change is considered.
   * @throws InvalidTriggerError, TriggerNotFoundError; TriggerStateError for a deleted one
   */
  async update(
    name: string,
    options: Partial<Omit<TriggerOptions, 'name'>>,
    control: TriggerControlOptions = {},
  ): Promise<TriggerInfo> {
    checkControl('update', control);
    const row = await this.#open(name, 'changed');
    const before = declarationOf(row);
    if (before.usesCode)
      throw refusal('update', `"${name}" has functions of code: change it where it is declared`);
    const { declaration } = this.#ofData('update', changedOptions(before, { ...options, name }));
    const hash = declarationHash(declaration);
    if (declarationHash(before) === hash) return triggerInfo(row);
    const key = this.#host.ids.next();
    // A change back to what it was is a revision too, unlike a process with older code.
    const isKnown = (row.body['hashes'] as readonly string[]).includes(hash);
    const named = isKnown ? contentHash([hash, key]) : hash;
    const revises = Number(row.body['revision']);
    await this.#declare(declaration, key, control, { hash: named, revises });
    return this.#settled(name, named, 'changed');
  }

  /**
   * Lets a trigger not fire until it is resumed. A check of its condition is ended, and does not
   * count. It is paused when this resolves. The exception: another process has the trigger for
   * longer than a second, or this one lacks its code. Then the command is stored, and carried out
   * there. The same holds for `resume`, `disable` and `delete`.
   * @throws TriggerNotFoundError, TriggerStateError
   */
  pause(name: string, options: TriggerControlOptions = {}): Promise<void> {
    return this.#change(name, 'pause', ['active'], options);
  }

  /**
   * Lets a paused or disabled trigger fire again. Nothing that was due meanwhile is made up for.
   * @throws TriggerNotFoundError, TriggerStateError
   */
  resume(name: string, options: TriggerControlOptions = {}): Promise<void> {
    return this.#change(name, 'resume', ['paused', 'disabled'], options);
  }

  /**
   * Takes a trigger out of use until it is resumed: like `pause`, under another status.
   * @throws TriggerNotFoundError, TriggerStateError
   */
  disable(name: string, options: TriggerControlOptions = {}): Promise<void> {
    return this.#change(name, 'disable', ['active', 'paused'], options);
  }

  /**
   * Deletes a trigger, and cancels the work of its last firing. Its history stays.
   * @throws TriggerNotFoundError, TriggerStateError
   */
  delete(name: string, options: TriggerControlOptions = {}): Promise<void> {
    return this.#change(name, 'delete', undeleted, options);
  }

  /**
   * Fires a trigger now, whatever its schedule. Resolves when that is stored.
   * @param options `key`: the same one again is the same firing
   * @throws TriggerNotFoundError, TriggerStateError
   */
  async fire(
    name: string,
    options: TriggerControlOptions & { readonly key?: string } = {},
  ): Promise<void> {
    const { key = this.#host.ids.next(), ...control } = options;
    if (isNonEmptyText(key) !== undefined)
      throw refusal('fire', '`key` must be a text that is not empty');
    const declaration = await this.#control(name, 'fire', undeleted, control, { id: key });
    const work = this.#host.advance(this.#tenant, turnName(declaration));
    await this.#parts.checks.orBegun({ tenant: this.#tenant, name }, work);
  }

  /**
   * Returns the next instants of a schedule in epoch milliseconds, without jitter.
   * @param what the name of a trigger, or a schedule
   * @throws InvalidTriggerError, TriggerNotFoundError
   */
  async preview(
    what: string | Schedule,
    options: { readonly count?: number } = {},
  ): Promise<readonly number[]> {
    const { clock } = this.#host;
    await syncClock(clock, this.#ledgers);
    const from = clock.now();
    if (typeof what !== 'string') return nextInstants(what, { from, ...options });
    const row = await this.#find(what);
    const declaration =
      row === undefined ? this.#declared.get(what)?.declaration : declarationOf(row);
    if (declaration === undefined) throw await this.#notFound(what);
    const { kind } = declaration.on;
    if (kind !== 'cron' && kind !== 'every' && kind !== 'at')
      throw refusal('preview', `"${what}" has no schedule: it fires on: ${String(kind)}`);
    const anchor = Number(row?.body['anchor'] ?? from);
    return nextInstants(declaration.on as unknown as Schedule, { from, anchor, ...options });
  }

  /**
   * History of a trigger, the last entry first.
   * @throws TriggerNotFoundError
   */
  async history(
    name: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly TriggerHistoryEntry[]> {
    const { limit = 100 } = options;
    if (isCount(limit) !== undefined) throw refusal('history', '`limit` must be a number from 1');
    await this.#row(name);
    const of = { kind: triggerKind, name };
    return (await ServiceHistory.of(this.#host, this.#tenant, of)).last(limit, historyEntry);
  }

  /**
   * Takes in a delivery of a webhook. Resolves when it is stored.
   * @returns `duplicate` when it had come before
   * @throws TriggerNotFoundError; WebhookRefusedError when it is forged, too old or too large, or
   * another delivery had its id
   */
  async receive(
    name: string,
    delivery: Pick<IncomingWebhook, 'headers' | 'body'>,
  ): Promise<{ readonly duplicate: boolean }> {
    const found = await this.#row(name);
    const webhook = this.#declared.get(name)?.code.webhook;
    if (webhook === undefined || found.status === 'deleted') throw await this.#notFound(name);
    const { clock } = this.#host;
    await syncClock(clock, this.#ledgers);
    const now = clock.now();
    const made = verifiedDelivery(name, webhook, delivery, now);
    const of = { name, usesCode: true };
    const { duplicate } = await this.#post(of, made.key, 'trigger', made.data, [made.row]);
    if (duplicate) await assertSameDelivery(name, this.#ledgers, made.row);
    return { duplicate };
  }

  /** Posts the declarations of code that are new, which belong to the tenant of the app. */
  async declareAll(): Promise<void> {
    if (this.#tenant !== this.#host.home) return;
    await syncClock(this.#host.clock, this.#ledgers);
    for (const { declaration } of this.#declared.values()) {
      const hash = declarationHash(declaration);
      const row = await this.#find(declaration.name);
      const known = (row?.body['hashes'] ?? []) as readonly string[];
      if (!known.includes(hash)) await this.#declare(declaration, hash, {}, { hash });
    }
  }

  get #ledgers() {
    return this.#host.ledgers(this.#tenant);
  }

  #ofData(action: string, options: TriggerOptions): Trigger {
    const made = trigger(options);
    const { declaration } = made;
    const { registry } = this.#host;
    if (declaration.usesCode)
      throw refusal(
        action,
        'functions and secrets are not stored: declare this trigger in code, with `triggers([…])`',
      );
    assertTold(this.#host, declaration);
    if (!registry.has(declaration.start))
      throw refusal(
        action,
        `the app has no runnable "${declaration.start}"; it has: ${registry.names.join(', ')}`,
      );
    return made;
  }

  async #declare(
    declaration: TriggerDeclaration,
    key: string,
    { by = 'operator', reason }: TriggerControlOptions,
    change: { readonly hash: string; readonly revises?: number },
  ): Promise<void> {
    const more = defined({ reason, ...change });
    const data = { command: 'declare', declaration, ...more } as unknown as JsonObject;
    await this.#post(declaration, `declare:${key}`, by, data);
  }

  /** Posts a command about the status, and lets it be carried out here if this process can. */
  async #change(
    name: string,
    command: 'pause' | 'resume' | 'disable' | 'delete',
    allowed: readonly TriggerStatus[],
    options: TriggerControlOptions,
  ): Promise<void> {
    const declaration = await this.#control(name, command, allowed, options);
    const isDone = (row: StoredRow): boolean => !allowed.includes(triggerInfo(row).status);
    await this.#written(name, turnName(declaration), isDone);
  }

  /** Posts a command. Returns the declaration of its trigger. */
  async #control(
    name: string,
    command: string,
    allowed: readonly TriggerStatus[],
    options: TriggerControlOptions,
    more: JsonObject = {},
  ): Promise<TriggerDeclaration> {
    checkControl(command, options);
    const { by = 'operator', reason } = options;
    const row = await this.#row(name);
    const { status } = triggerInfo(row);
    if (!allowed.includes(status))
      throw new TriggerStateError({ trigger: name, status, refused: `${command}d` });
    // One of the same name that is made later is another trigger.
    const { id } = more;
    const key = id === undefined ? this.#host.ids.next() : `${row.at}:${String(id)}`;
    const data: JsonObject = { command, ...more, ...(reason === undefined ? {} : { reason }) };
    const declaration = declarationOf(row);
    await this.#post(declaration, `${command}:${key}`, by, data);
    return declaration;
  }

  #post(
    of: Pick<TriggerDeclaration, 'name' | 'usesCode'>,
    key: string,
    by: string,
    data: JsonObject,
    rows: readonly ListedRow[] = [],
  ): Promise<{ readonly duplicate: boolean }> {
    const { name } = of;
    const post = { kind: triggerKind, name, runnable: turnName(of), key, by, data, rows };
    return this.#host.post(this.#tenant, post);
  }

  async #find(name: string): Promise<StoredRow | undefined> {
    if (isNonEmptyText(name) !== undefined)
      throw refusal('get', `the name must be a text, not ${describeValue(name)}`);
    const [row] = await this.#ledgers.rows({ kind: triggerKind, id: name, limit: 1 });
    return row;
  }

  async #row(name: string): Promise<StoredRow> {
    let row = await this.#find(name);
    if (row === undefined && this.#declared.has(name)) {
      // Declared in code, and not yet looked at by a worker.
      await this.declareAll();
      row = await this.#written(name, this.#turnOf(name), () => true);
    }
    if (row === undefined) throw await this.#notFound(name);
    return row;
  }

  async #open(name: string, refused: string): Promise<StoredRow> {
    const row = await this.#row(name);
    if (row.status === 'deleted')
      throw new TriggerStateError({ trigger: name, status: row.status, refused });
    return row;
  }

  async #notFound(name: string): Promise<TriggerNotFoundError> {
    const known = (await this.list()).map((one) => one.name);
    return new TriggerNotFoundError({ trigger: name, app: this.#host.app, known });
  }

  #turnOf(name: string): string {
    return turnName(this.#declared.get(name)?.declaration ?? { name, usesCode: false });
  }

  /** Lets a declaration be taken in here, and returns the trigger as it is then. */
  async #settled(name: string, hash: string, refused: string): Promise<TriggerInfo> {
    const isTaken = ({ body, status }: StoredRow): boolean =>
      status !== 'deleted' && (body['hashes'] as readonly string[]).includes(hash);
    const row = await this.#written(name, this.#turnOf(name), isTaken);
    if (row === undefined) throw await this.#notFound(name);
    if (isTaken(row)) return triggerInfo(row);
    // Another change, or the end of the trigger, was there first.
    throw new TriggerStateError({ trigger: name, status: row.status, refused });
  }

  #written(
    name: string,
    turn: string,
    isDone: (found: StoredRow) => boolean,
  ): Promise<StoredRow | undefined> {
    const find = () => this.#find(name);
    return writtenRow({ ...this.#parts, name, turn }, find, isDone);
  }
}

function refusal(action: string, reason: string): InvalidTriggerError {
  return new InvalidTriggerError({ function: `app.triggers.${action}`, reason });
}
