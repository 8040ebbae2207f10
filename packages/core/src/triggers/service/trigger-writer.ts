import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isObject } from '../../base/options.ts';
import type { ServiceHost } from '../../engine/services/service.ts';
import type { ServiceSession, ServiceStep } from '../../engine/services/service-session.ts';
import { endedSubscription, subscriptionRow } from '../../engine/services/topics.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { DataOf } from '../../ledger/decisions/decision-map.ts';
import type {
  Firing,
  PublishedEvent,
  TriggerDeclaration,
} from '../../ledger/decisions/service-decisions.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { InboxEntry, ListedRow } from '../../ledger/port.ts';
import { conditionEdge } from '../firings/condition-edge.ts';
import { dueFirings } from '../firings/due-firings.ts';
import type { FiringPolicy } from '../firings/policy.ts';
import type { Schedule } from '../schedules/schedule.ts';
import { checkCondition, messageOf, type RunningChecks } from './condition-check.ts';
import { lacksCode, turnName } from './missing-code.ts';
import { expiryOf, identityOf, nextCheck, wakeOf } from './next-wake.ts';
import { type PlacedFiring, placeFiring, start } from './place-firing.ts';
import type { TriggerCode } from './trigger.ts';
import { byCaller, declared, deleted, ended, notArrived } from './trigger-answers.ts';
import { patternOf, triggerKind, triggerRow } from './trigger-row.ts';
import { noTrigger, type TriggerState, triggerState } from './trigger-state.ts';

/** Milliseconds until a process looks again at a trigger whose functions it does not have. */
const lackingPauseMs = 10_000;

export interface TriggerWriterParts {
  readonly host: ServiceHost;
  /** The functions of a trigger, if this process has them. */
  readonly code: (name: string) => TriggerCode;
  readonly checks: RunningChecks;
}

/** Writer of the ledger of one trigger, while this process holds it. */
export class TriggerWriter {
  readonly #session: ServiceSession;
  readonly #parts: TriggerWriterParts;
  readonly #takenAs: string;

  constructor(session: ServiceSession, parts: TriggerWriterParts) {
    this.#session = session;
    this.#takenAs = session.runnable;
    this.#parts = parts;
  }

  /** Does all that is due. Returns the instant of the next wake. */
  async advance(): Promise<number | null> {
    const session = this.#session;
    let [state, seen] = [noTrigger, 0];
    for (;;) {
      state = triggerState(session.events(seen), state);
      seen = session.ledger.events.length;
      if (session.signal.aborted) return null;
      const step = await this.#next(state);
      if (step === undefined) return this.#restUntil(state);
      await this.#append(state, step);
    }
  }

  /** Instant at which the trigger is to be looked at next, here or where its functions are. */
  async #restUntil(state: TriggerState): Promise<number | null> {
    const { declaration, status } = state;
    const wakeAt = wakeOf(state);
    if (declaration === undefined) return wakeAt;
    this.#session.nameTurn(turnName(declaration));
    if (status !== 'active' || !lacksCode(declaration, this.#code(declaration))) return wakeAt;
    const now = this.#session.now();
    const isLeft = (await this.#session.inbox()).length > 0;
    const at = isLeft ? now : wakeAt;
    // This process would take it again at once, and others are to find it free.
    const isTakenHere = this.#takenAs === this.#session.runnable;
    return at === null || !isTakenHere ? at : Math.max(at, now + lackingPauseMs);
  }

  #code({ name }: TriggerDeclaration): TriggerCode {
    return this.#parts.code(name);
  }

  /** True for an item that only a process with the functions of the trigger can answer. */
  #isLeft({ declaration, status }: TriggerState, { data, type }: InboxEntry): boolean {
    if (type !== 'service' || data['command'] !== 'event' || status !== 'active') return false;
    return declaration !== undefined && lacksCode(declaration, this.#code(declaration));
  }

  /** The next append; `undefined` when nothing is to be done now. */
  async #next(state: TriggerState): Promise<ServiceStep | undefined> {
    const entry = await this.#session.nextItem((one) => this.#isLeft(state, one));
    if (entry !== undefined) return { ...(await this.#answer(state, entry)), consumes: [entry] };
    const { declaration, status } = state;
    if (declaration === undefined || status === 'deleted') return undefined;
    // A queued firing by hand starts in any status. Others were due before the last instant.
    const [first] = state.queued;
    const mayStart = status === 'active' || status === 'completed' || first?.kind === 'manual';
    const started = mayStart ? await this.#startQueued(state, declaration) : undefined;
    return status === 'active' ? (started ?? this.#due(state, declaration)) : started;
  }

  /** Appends a step, with the row of the trigger as it is after it. */
  async #append(before: TriggerState, step: ServiceStep): Promise<void> {
    const { drafts = [] } = step;
    if (drafts.length === 0 && (step.sends ?? []).length === 0) return this.#session.append(step);
    const now = this.#session.now();
    const made = drafts.map((draft) => ({ ...draft, v: 1, seq: 0, id: '', at: now }));
    const after = triggerState(made as never[], before);
    if (after.declaration !== undefined) this.#session.nameTurn(turnName(after.declaration));
    const rows: ListedRow[] = [...(step.rows ?? [])];
    if (after.declaration !== undefined)
      rows.push(triggerRow(after, wakeOf(after), this.#session.id));
    rows.push(...this.#subscription(before, after));
    return this.#session.append({ ...step, rows });
  }

  /** The subscription lands with the event from which it holds. */
  #subscription(before: TriggerState, after: TriggerState): readonly ListedRow[] {
    const { name, runnable } = this.#session;
    const of = { kind: triggerKind, name, runnable };
    const [had, has] = [patternOf(before), patternOf(after)];
    const usesCode = after.declaration?.usesCode;
    if (had === has && before.declaration?.usesCode === usesCode) return [];
    if (had === undefined && has === undefined) return [];
    const at = after.anchor;
    return [has === undefined ? endedSubscription(of, at) : subscriptionRow(of, has, at)];
  }

  async #answer(state: TriggerState, entry: InboxEntry): Promise<ServiceStep> {
    switch (entry.type) {
      case 'child_end':
        return ended(state, entry, this.#session);
      case 'dead_letter':
        return notArrived(state, entry);
      case 'service':
        return this.#command(state, entry);
      default:
        return {};
    }
  }

  async #command(state: TriggerState, { by, data }: InboxEntry): Promise<ServiceStep> {
    const { declaration, status } = state;
    const command = String(data['command']);
    if (command === 'declare') return declared(state, by, data);
    if (declaration === undefined || status === 'deleted') return {};
    const reasoning = typeof data['reason'] === 'string' ? data['reason'] : `By ${by}.`;
    switch (command) {
      case 'pause':
      case 'disable':
        return status === 'active' || status === 'paused'
          ? { drafts: [decision('trigger', command, { by, reasoning })] }
          : {};
      case 'resume':
        return status === 'paused' || status === 'disabled'
          ? { drafts: [decision('trigger', 'resume', { by, reasoning })] }
          : {};
      case 'delete':
        return deleted(state, by, reasoning, this.#session.now());
      case 'fire':
        return byCaller(
          await this.#place(state, declaration, {
            ...{ id: `manual:${String(data['id'])}`, kind: 'manual' },
            instant: this.#session.now(),
          }),
          by,
          data['reason'],
        );
      case 'event':
        return status === 'active' ? this.#event(state, declaration, data['event']) : {};
      case 'webhook':
        return this.#webhook(state, declaration, data);
      default:
        return {};
    }
  }

  async #event(
    state: TriggerState,
    declaration: TriggerDeclaration,
    given: JsonValue | undefined,
  ): Promise<ServiceStep> {
    if (isObject(given) !== undefined) return {};
    const event = given as unknown as PublishedEvent;
    const { at, cause, data, id, source, type } = event;
    const firing: Firing = {
      ...{ id: `event:${id}`, kind: 'event', instant: at },
      about: { type, data: data ?? null, ...(source === undefined ? {} : { source }) },
      ...(cause === undefined ? {} : { cause }),
    };
    try {
      const { where } = this.#code(declaration);
      const seen = { type, ...(source === undefined ? {} : { source }), data };
      const fits: unknown = where === undefined || where(seen);
      if (fits instanceof Promise) throw new TypeError('it must return true or false at once');
      if (!fits) return {};
    } catch (error) {
      const reasoning = `The filter of the trigger has failed: ${messageOf(error)}`;
      const refusal = { firing, reason: 'filter_failed' };
      return { drafts: [decision('trigger', 'refuse', { reasoning, data: refusal })] };
    }
    return this.#place(state, declaration, firing);
  }

  async #webhook(
    state: TriggerState,
    declaration: TriggerDeclaration,
    { body, id, timestamp }: JsonObject,
  ): Promise<ServiceStep> {
    const firing: Firing = {
      ...{ id: `webhook:${String(id)}`, kind: 'webhook', instant: Number(timestamp) },
      about: { body: body ?? null },
    };
    if (state.status === 'active') return this.#place(state, declaration, firing);
    // The sender was told that it is accepted, and looks here for what became of it.
    const reasoning = `The trigger is ${state.status}, and does not fire.`;
    const refusal = { firing, reason: state.status };
    return { drafts: [decision('trigger', 'refuse', { reasoning, data: refusal })] };
  }

  /** Starts the firing that waits first, when nothing is open any more. */
  async #startQueued(
    state: TriggerState,
    declaration: TriggerDeclaration,
  ): Promise<ServiceStep | undefined> {
    const [first] = state.queued;
    if (first === undefined || state.open !== undefined) return undefined;
    const expiresAt = expiryOf(state, first, this.#session.now());
    return start(declaration, first, { ...this.#placeParts(state), expiresAt });
  }

  async #due(
    state: TriggerState,
    declaration: TriggerDeclaration,
  ): Promise<ServiceStep | undefined> {
    const { kind } = declaration.on;
    if (kind === 'condition') return this.#check(state, declaration);
    if (kind === 'event' || kind === 'webhook') return undefined;
    return this.#scheduled(state, declaration);
  }

  async #scheduled(
    state: TriggerState,
    declaration: TriggerDeclaration,
  ): Promise<ServiceStep | undefined> {
    const schedule = declaration.on as unknown as Schedule;
    const { anchor, considered, firedAt } = state;
    const triggerId = identityOf(state);
    const now = this.#session.now();
    const due = dueFirings(schedule, declaration as unknown as FiringPolicy, {
      ...{ considered, anchor, triggerId, now, firedAt },
    });
    const left = due.decisions.map((one): EventDraft => {
      if (one.decision === 'began_again')
        return decision('trigger', 'begin_again', {
          reasoning: one.reasoning,
          data: { now: one.now, considered: one.now },
        });
      const { count, decision: reason, first, last, reasoning } = one;
      return decision('trigger', 'leave_out', {
        reasoning,
        data: { reason, count, first, last, considered: last },
      });
    });
    const [firing] = due.firings;
    if (firing === undefined)
      return left.length > 0 ? { drafts: left } : this.#completed(state, schedule, due.wakeAt);
    const { instant, missed, standsFor } = firing;
    const placed = await this.#place(
      state,
      declaration,
      {
        ...{ id: `at:${instant}`, kind: 'schedule', instant },
        ...(missed ? { missed } : {}),
        ...(standsFor > 1 ? { standsFor } : {}),
      },
      instant,
    );
    return { ...placed, drafts: [...left, ...placed.drafts] };
  }

  #completed(
    { open, queued }: TriggerState,
    schedule: Schedule,
    wakeAt: number | undefined,
  ): ServiceStep | undefined {
    if (wakeAt !== undefined || schedule.kind !== 'at') return undefined;
    if (open !== undefined || queued.length > 0) return undefined;
    const reasoning = 'The trigger has fired for its last instant.';
    return { drafts: [decision('trigger', 'complete', { reasoning })] };
  }

  /** Checks a condition when its time has come. */
  async #check(
    state: TriggerState,
    declaration: TriggerDeclaration,
  ): Promise<ServiceStep | undefined> {
    const at = this.#session.now();
    if (at < nextCheck(state, declaration)) return undefined;
    const { check } = this.#code(declaration);
    if (check === undefined) return undefined;
    const { checks, host } = this.#parts;
    const found = await checks.with(this.#session, this.#session.signal, (signal) =>
      checkCondition(check, { at, clock: host.clock, host: host.host, signal }),
    );
    if (found === undefined) return undefined;
    const { change, fires } = conditionEdge(state.condition, found);
    const data: DataOf<'trigger', 'check'> = { ...(found as DataOf<'trigger', 'check'>) };
    const drafts = [
      decision('trigger', 'check', { reasoning: `The condition was checked: ${change}.`, data }),
    ];
    if (!fires) return { drafts };
    const saw = 'saw' in found ? found.saw : undefined;
    const placed = await this.#place(state, declaration, {
      ...{ id: `check:${at}`, kind: 'condition', instant: at },
      ...(saw === undefined ? {} : { about: { saw } }),
    });
    return { ...placed, drafts: [...drafts, ...placed.drafts] };
  }

  async #place(
    state: TriggerState,
    declaration: TriggerDeclaration,
    firing: Firing,
    considered?: number,
  ): Promise<PlacedFiring> {
    const { gone, waitsForPerson } = await this.#openWork(state);
    const { open: _, ...withoutOpen } = state;
    const parts = { ...this.#placeParts(state), waitsForPerson, considered };
    const placed = placeFiring(gone === undefined ? state : withoutOpen, declaration, firing, {
      ...parts,
      expiresAt: expiryOf(state, firing, this.#session.now()),
    });
    return gone === undefined ? placed : { ...placed, drafts: [gone, ...placed.drafts] };
  }

  /** Work whose session was deleted has ended, or `skip` would skip for ever. */
  async #openWork({ open }: TriggerState): Promise<{
    readonly gone?: EventDraft;
    readonly waitsForPerson: boolean;
  }> {
    if (open === undefined) return { waitsForPerson: false };
    const { store } = this.#session;
    if ((await store.head(open.session)) === undefined) {
      const left = await store.sends({ from: this.#session.id, limit: 1_000 });
      const isOnItsWay = left.some(({ to }) => to === open.session);
      if (!isOnItsWay)
        return {
          waitsForPerson: false,
          gone: decision('trigger', 'end', {
            reasoning: 'The session of the work was deleted.',
            data: { firing: open.firing.id, task: open.task, status: 'deleted' },
          }),
        };
    }
    const waiting = await store.requests({ session: open.session, status: 'pending', limit: 1 });
    return { waitsForPerson: waiting.length > 0 };
  }

  #placeParts(state: TriggerState): Parameters<typeof start>[2] {
    const { app, work } = this.#parts.host;
    const { id, tenant } = this.#session;
    return {
      ...{ app, tenant, work, session: id },
      now: this.#session.now(),
      identity: identityOf(state),
    };
  }
}
