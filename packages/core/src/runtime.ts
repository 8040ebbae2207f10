import type { EventToPublish } from './effects/publish/published-event.ts';
import { sessionIdOf } from './engine/app/control-options.ts';
import { type ResumeOptions, resumeArguments } from './engine/app/resume-arguments.ts';
import type { RuntimeOptions } from './engine/app/runtime-options.ts';
import {
  type RuntimeRecovery,
  type RuntimeStreams,
  type RuntimeTenants,
  recoveryOf,
  sessionsOf,
  streamsOf,
} from './engine/app/runtime-parts.ts';
import { ExistingApp, places, runtimes } from './engine/app/runtime-places.ts';
import type { SessionService } from './engine/app/session-service.ts';
import { type AppPlace, SharedApp } from './engine/app/shared-app.ts';
import type { TenantApp } from './engine/app/tenant-app.ts';
import { InvalidRuntimeError } from './engine/frame/errors.ts';
import { checkedRunOptions, checkRunnable, type RunOptions } from './engine/frame/run-options.ts';
import type { FollowOptions } from './engine/live/live-sessions.ts';
import type { RequestService } from './engine/requests/service.ts';
import type {
  Advance,
  AdvanceOptions,
  CancelOptions,
  InterruptOptions,
  PauseOptions,
  SendOptions,
} from './engine/run/advance.ts';
import type { Run } from './engine/run/run.ts';
import type { SubmitOptions } from './engine/tasks/submit-options.ts';
import type { TaskHandle } from './engine/tasks/task-handle.ts';
import type { TaskService } from './engine/tasks/task-service.ts';
import type { StreamEvent } from './ledger/event.ts';
import type { Store } from './ledger/port.ts';
import type { NotificationService } from './notifications/service/notification-service.ts';
import type { OutputOf, Runnable } from './session/runnable.ts';
import type { AnySession } from './session/session.ts';
import type { StateSchema } from './session/state-types.ts';
import { memoryStore } from './stores/memory.ts';
import { processOwner } from './stores/owner.ts';
import type { OpenCircuit } from './supervision/circuit-breaker.ts';
import type { Toolset } from './tools/toolset.ts';
import type { TriggerService } from './triggers/service/trigger-service.ts';

/** An app that is running: sessions, runs and the tools that all agents share. */
export class Runtime<OwnSchema extends StateSchema = StateSchema> {
  readonly app: string;
  readonly tenant: string;
  /** The store with the sessions of all tenants. */
  readonly store: Store;
  readonly tools: Toolset;
  /** The stored sessions: opened, listed, forked, restored, repaired and deleted. */
  readonly sessions: SessionService<OwnSchema>;
  /** Requests that runs make of people and other systems: listed, shown and answered. */
  readonly requests: RequestService;
  /** Submitted tasks: listed, explained, waited for and controlled. */
  readonly tasks: TaskService;
  readonly tenants: RuntimeTenants<Runtime<OwnSchema>>;
  readonly recovery: RuntimeRecovery;
  readonly streams: RuntimeStreams;
  readonly #shared: SharedApp;
  readonly #own: TenantApp;

  /** @throws InvalidRuntimeError, DuplicateRunnableError, DuplicateToolError */
  constructor(options: RuntimeOptions<OwnSchema> | ExistingApp) {
    const place = options instanceof ExistingApp ? options.place : newApp(options);
    const { shared, own } = place;
    [this.#shared, this.#own] = [shared, own];
    [this.app, this.tenant] = [own.app, own.tenant];
    [this.store, this.tools, this.requests] = [shared.store, shared.tools, own.requests];
    runtimes.set(own, this);
    places.set(this, place);
    this.tasks = own.tasks;
    this.sessions = sessionsOf(place);
    this.tenants = { get: (tenant) => runtimeAt({ shared, own: shared.tenant(tenant) }) };
    this.recovery = recoveryOf(place);
    this.streams = streamsOf(shared);
  }

  /**
   * Triggers of the app: listed, made, changed, fired and previewed.
   * @throws InvalidRuntimeError when the app has no option `triggers`
   */
  get triggers(): TriggerService {
    return this.#service<TriggerService>('trigger', 'triggers', 'triggers([…])');
  }

  /**
   * Notices to people: sent, and what became of them.
   * @throws InvalidRuntimeError when the app has no option `notifications`
   */
  get notifications(): NotificationService {
    const made = 'notifications({ channels })';
    return this.#service<NotificationService>('notifier', 'notifications', made);
  }

  #service<Service>(kind: string, option: string, made: string): Service {
    const found = this.#shared.ownServices.of(kind, this.tenant);
    if (found !== undefined) return found as Service;
    throw new InvalidRuntimeError({
      reason:
        `it has no \`${option}\`: give \`runtime\` the option \`${option}: ${made}\`, made by ` +
        `'adjutant/${option}'`,
    });
  }

  /**
   * Tools that are left alone because they failed too often in a row, as far as this process knows:
   * from its own runs, and from the ledgers of the sessions that it worked on.
   */
  get circuits(): readonly OpenCircuit[] {
    const { circuitBreakers, clock } = this.#own.services;
    return circuitBreakers?.open(clock.now()) ?? [];
  }

  /** The runnables that were registered, and everything that they contain. */
  get runnables(): readonly Runnable[] {
    return this.#shared.runnables;
  }

  /**
   * Starts a run, or continues the open one of the session. The input of an open run is a message
   * to it.
   * @throws InvalidRunError, DuplicateRunnableError; everything else rejects the run
   * @example
   * ```ts
   * import { agent, rehearsal, runtime } from 'adjutant';
   *
   * const greeter = agent({ name: 'greeter', model: rehearsal() });
   * const app = runtime({ app: 'shop', runnables: [greeter] });
   * const { output, status } = await app.run(greeter, 'What can you do?');
   * console.log(status, output);
   * await app.close();
   * ```
   */
  run<R extends Runnable>(runnable: R, inputOrOptions?: string | RunOptions): Run<OutputOf<R>>;
  run<R extends Runnable>(runnable: R, session: AnySession): Run<OutputOf<R>>;
  run(runnable: Runnable, inputOrOptions: string | RunOptions | AnySession = {}): Run {
    checkRunnable(runnable);
    const options = checkedRunOptions(inputOrOptions);
    this.#own.services.registry.register(runnable);
    return this.#own.start(runnable, options);
  }

  /**
   * Submits a task: a run that waits for its turn. Resolves when it is stored; a worker of the app
   * carries it out, in this process or in another. The same `key` again is the same task.
   * @throws InvalidTaskError, QueueFullError, StoreUnavailableError
   * @example
   * ```ts
   * import { agent, memoryStore, rehearsal, runtime } from 'adjutant';
   *
   * const writer = agent({ name: 'writer', model: rehearsal() });
   * const app = runtime({ app: 'news', store: memoryStore(), runnables: [writer] });
   * const task = await app.submit(writer, 'What can you do?', { priority: 'low' });
   * const { status } = await task.wait();
   * console.log(status); // 'completed'
   * await app.close();
   * ```
   */
  submit(
    runnable: Runnable,
    input: string | undefined,
    options: SubmitOptions = {},
  ): Promise<TaskHandle> {
    checkRunnable(runnable);
    return this.#own.tasks.submit(runnable, input, options);
  }

  /**
   * Publishes an event. Resolves when it is stored; each durable subscription that there is when it
   * is handed on, such as that of a trigger, gets it once. The same `id` again is the same event.
   * In the body of a step, use `ctx.publish`.
   * @throws InvalidBusEventError, StoreUnavailableError
   * @example
   * ```ts
   * import { memoryStore, runtime } from 'adjutant';
   * import { action, event, trigger, triggers } from 'adjutant/triggers';
   *
   * const log = action({ name: 'log', execute: ({ about }) => console.log(about?.data) });
   * const onMail = trigger({ name: 'on-mail', on: event('mail.*'), start: log });
   * const app = runtime({ app: 'desk', store: memoryStore(), triggers: triggers([onMail]) });
   * await app.recovery.resumeStopped(); // declares the trigger
   * await app.publish({ type: 'mail.received', data: { from: 'ann' }, id: 'mail-17' });
   * await app.close();
   * ```
   */
  publish(event: EventToPublish): Promise<{ readonly id: string }> {
    return this.#own.publish(event);
  }

  /**
   * Continues the open run of a session, from its ledger. With the runnable of the run the result
   * is typed, and a run of another one is refused. Without it the runnable must be registered.
   * @throws InvalidRunError, DuplicateRunnableError; rejects with RunnableMismatchError,
   * NoOpenRunError
   * @example
   * ```ts
   * import { agent, runtime } from 'adjutant';
   * import { scriptedModel } from 'adjutant/testing';
   *
   * const model = scriptedModel([{ text: 'Where to?' }, { text: 'Booked.' }]);
   * const booker = agent({ name: 'booker', model });
   * const app = runtime({ app: 'travel', runnables: [booker] });
   * const session = await app.sessions.open({ id: 'trip' });
   * const run = app.run(booker, { input: 'Book a trip', session });
   * await run.accepted();
   * run.stop(); // as when the process ends
   * await run.catch(() => undefined);
   * const { status } = await app.resume(booker, 'trip');
   * console.log(status); // 'completed'
   * ```
   */
  resume<R extends Runnable>(
    runnable: R,
    session: AnySession | string,
    options?: ResumeOptions,
  ): Run<OutputOf<R>>;
  resume(session: AnySession | string, options?: ResumeOptions): Run;
  resume(...given: readonly unknown[]): Run {
    return this.#own.resume(resumeArguments(given));
  }

  /**
   * Carries the open run of a session on, as far as it goes without a person or another system:
   * for workers that do a little of many sessions. `done`, `failed` and `cancelled` tell how the
   * last run ended; `waiting` names the requests; `more`: the round or slice is over.
   * @throws InvalidRunError; rejects with SessionNotFoundError, UnknownRunnableError,
   * LedgerMismatchError, StoreUnavailableError
   */
  advance(session: AnySession | string, options: AdvanceOptions = {}): Promise<Advance> {
    return this.#own.advance(session, options);
  }

  /**
   * Cancels the work that a session has under way, in any process: the model call and the tools are
   * aborted, and the ledger records who asked for it. Resolves when the request is stored; the
   * process that works on the session acts within a second.
   * @throws SessionNotFoundError, StoreUnavailableError
   * @example
   * ```ts
   * import { agent, runtime } from 'adjutant';
   * import { scriptedModel } from 'adjutant/testing';
   *
   * const slow = scriptedModel([{ text: 'A long answer', delayMs: 60_000 }]);
   * const writer = agent({ name: 'writer', model: slow });
   * const app = runtime({ app: 'news', runnables: [writer] });
   * const run = app.run(writer, { input: 'Write', session: await app.sessions.open({ id: 's' }) });
   * await run.accepted();
   * await app.cancel('s', { by: 'operator', reason: 'The story is off.' });
   * console.log((await run).stopReason);
   * ```
   */
  cancel(session: AnySession | string, options: CancelOptions = {}): Promise<void> {
    return this.#own.control.cancel(session, options);
  }

  /**
   * Lets a session end its open round and begin no other, until it is resumed.
   * @throws SessionNotFoundError, StoreUnavailableError
   */
  pause(session: AnySession | string, options: PauseOptions = {}): Promise<void> {
    return this.#own.control.pause(session, options);
  }

  /**
   * Cuts off the answer that the model of a session is giving, in any process. The text so far is
   * recorded as what the model said, and the run then waits until it is resumed, or goes on with
   * the messages that have come. Tools are not torn off: with tools under way the run ends its
   * round first.
   * @throws InvalidRunError, SessionNotFoundError, StoreUnavailableError
   */
  interrupt(session: AnySession | string, options: InterruptOptions = {}): Promise<void> {
    return this.#own.control.interrupt(session, options);
  }

  /**
   * Leaves a message for a session, in any process: the next prompt of its run has it, after the
   * results of the open round. Without an open run the next run has it.
   * @throws SessionNotFoundError, StoreUnavailableError
   * @example
   * ```ts
   * import { agent, runtime } from 'adjutant';
   * import { scriptedModel } from 'adjutant/testing';
   *
   * const model = scriptedModel([{ text: 'Hello Ann.' }]);
   * const greeter = agent({ name: 'greeter', model });
   * const app = runtime({ app: 'shop', runnables: [greeter] });
   * await app.sessions.create({ id: 's' });
   * await app.send('s', 'My name is Ann.'); // for the next run
   * const { output } = await app.run(greeter, { session: 's', input: 'Hi' });
   * console.log(output);
   * ```
   */
  send(session: AnySession | string, text: string, options: SendOptions = {}): Promise<void> {
    return this.#own.control.send(session, text, options);
  }

  /**
   * Streams the events of a session, in whichever process its run is: all durable events after a
   * place, in order and without gaps, later ones as they land, and between them the parts of
   * answers as they are written. A follower who comes in the middle of an answer gets a
   * `stream_reset` and the text so far; a slow follower gets parts joined, and delays no other. A
   * durable event replaces the parts that it was made of. With `pubsub` the parts come from every
   * process, without it from this one only.
   * @throws InvalidRunError, SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError,
   * StoreUnavailableError
   */
  follow(
    session: AnySession | string,
    options: FollowOptions = {},
  ): AsyncGenerator<StreamEvent, void, undefined> {
    return this.#shared.live.follow(this, this.#own.ledgers, sessionIdOf(session), options);
  }

  /**
   * Releases all runs and their dispatched work without ending them, waits for that, and closes
   * store and pub/sub. The runtime of one tenant leaves store and pub/sub open.
   */
  close(): Promise<void> {
    return this.#shared.close(this.#own);
  }
}

/**
 * Makes an app that sessions and runs belong to.
 * @example
 * ```ts
 * import { agent, rehearsal, runtime } from 'adjutant';
 * import { sqlite } from 'adjutant/sqlite';
 *
 * const clerk = agent({ name: 'clerk', model: rehearsal() });
 * const app = runtime({ app: 'shop', store: sqlite('shop.db'), runnables: [clerk] });
 * const result = await app.run(clerk, { input: 'What can you do?', session: 'customer-7' });
 * console.log(result.output);
 * await app.close();
 * ```
 */
export const runtime = <Schema extends StateSchema = StateSchema>(
  options: RuntimeOptions<Schema>,
): Runtime<Schema> => new Runtime(options);

function newApp<Schema extends StateSchema>(options: RuntimeOptions<Schema>): AppPlace {
  // The parts below work on sessions of any state.
  const shared = new SharedApp(options as unknown as RuntimeOptions, {
    memoryStore: (clock) => memoryStore({ clock }),
    processOwner,
  });
  return { shared, own: shared.home };
}

/** The runtime in front of an app: the same one as long as it is referenced. */
export function runtimeAt<Schema extends StateSchema>(place: AppPlace): Runtime<Schema> {
  const made = runtimes.get(place.own) ?? new Runtime<Schema>(new ExistingApp(place));
  return made as Runtime<Schema>;
}
