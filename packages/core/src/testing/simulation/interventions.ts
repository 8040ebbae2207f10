import type { Runtime } from '../../runtime.ts';
import type { Caller } from './caller.ts';
import type { ConfirmedControl, LetGo } from './control-checks.ts';
import type { FaultPlan } from './faults.ts';
import type { World } from './world.ts';

/** Milliseconds from the start of a run to an intervention, at least and at most. */
const afterStart = { soonest: 100, latest: 3_600_000 };
/** Milliseconds for which people hold a session, at least and at most. */
const holding = { shortest: 1_000, longest: 1_800_000 };
/** Share of the usual rate of cancels at which people cancel a run by its lane. */
const cancelsOfLanes = 5;
/** Share of the pauses that cut off the answers under way. */
const interrupting = 0.4;
/** Most messages to a run. */
const mostMessages = 3;

/** A run that is under way, and the session that it has. */
interface RunUnderWay {
  readonly session: string;
  readonly runId: string;
}

/** A run in a lane of its own. */
interface RunInLane extends RunUnderWay {
  readonly lane: string;
}

/** Words of people to runs that they have asked for: more messages, a pause, a cancel. */
export class Interventions {
  /** Keys of messages that the store has confirmed, with their sessions. */
  readonly said = new Map<string, string>();
  /** Cancels, pauses and interruptions that an app has confirmed. */
  readonly controls: ConfirmedControl[] = [];
  /** The times at which paused sessions were to go on. */
  readonly letGo: LetGo[] = [];
  readonly #world: World;
  readonly #plan: FaultPlan;
  readonly #caller: Caller;

  constructor(world: World, plan: FaultPlan, caller: Caller) {
    this.#world = world;
    this.#plan = plan;
    this.#caller = caller;
  }

  /** Draws the interventions in a run, and their times. */
  begin(run: RunUnderWay, isTask: boolean): void {
    for (let message = 0; message < mostMessages; message++)
      this.#later('message', run, (place) => this.#say(run, place));
    this.#later('hold', run, (place) =>
      isTask ? this.#holdTask(run, place) : this.#hold(run, place),
    );
    this.#later('cancel', run, (place) => this.#cancel(run, place, isTask));
  }

  /** Draws the cancel of a run in a lane of its own: people name the lane and no run. */
  beginBeside(run: RunInLane): void {
    this.#later('cancel', run, (place) => this.#cancelLane(run, place), cancelsOfLanes);
  }

  #later(
    kind: 'message' | 'hold' | 'cancel',
    { runId }: RunUnderWay,
    intervene: (place: string) => Promise<void>,
    share = 1,
  ): void {
    const world = this.#world;
    const place = this.#plan.visit(`people/${kind} ${runId}`);
    const { latest, soonest } = afterStart;
    world.after(world.draws.delay(`${place} at`, soonest, latest), () => {
      if (this.#plan.happens(kind, place, share)) void intervene(place);
    });
  }

  async #say({ runId, session }: RunUnderWay, place: string): Promise<void> {
    const options = { clientKey: place, interrupt: this.#world.draws.at(`${place} cuts in`) < 0.3 };
    const outcome = await this.#caller.call({
      place,
      text: `${runId} is told something`,
      make: (app) => app.send(session, 'And another thing.', options),
    });
    if (outcome === 'done') this.said.set(place, session);
  }

  async #cancel({ runId, session }: RunUnderWay, place: string, isTask: boolean): Promise<void> {
    const by = 'user:ann';
    const outcome = await this.#caller.call({
      place,
      text: `${runId} is cancelled`,
      make: (app) =>
        isTask ? app.tasks.cancel(runId, { by }) : app.cancel(session, { by, runId }),
    });
    if (outcome === 'done') this.controls.push({ type: 'cancel', session, runId });
  }

  /** Suspends a task for a while, or makes it urgent. */
  async #holdTask({ runId }: RunUnderWay, place: string): Promise<void> {
    const world = this.#world;
    const call = (what: string, make: (app: Runtime) => Promise<void>): Promise<string> =>
      this.#caller.call({ place: `${place} ${what}`, text: `${runId} is ${what}`, make });
    await call('made urgent', (app) => app.tasks.reprioritize(runId, 'high'));
    if (world.draws.at(`${place} moves`) < 0.5)
      await call('moved to the front', (app) => app.tasks.moveToFront(runId));
    if ((await call('suspended', (app) => app.tasks.suspend(runId))) !== 'done') return;
    await world.wait(world.draws.delay(`${place} for`, holding.shortest, holding.longest));
    await call('resumed', (app) => app.tasks.resume(runId));
  }

  async #cancelLane({ lane, runId, session }: RunInLane, place: string): Promise<void> {
    const outcome = await this.#caller.call({
      place,
      text: `${runId} is cancelled by its lane`,
      make: (app) => app.cancel(session, { by: 'user:ann', lane }),
    });
    if (outcome === 'done') this.controls.push({ type: 'cancel', session, runId });
  }

  async #hold({ runId, session }: RunUnderWay, place: string): Promise<void> {
    const world = this.#world;
    const type = world.draws.at(`${place} cuts off`) < interrupting ? 'interrupt' : 'pause';
    const outcome = await this.#caller.call({
      place,
      text: `${runId} is ${type === 'pause' ? 'held' : 'interrupted'}`,
      make: (app) => app[type](session),
    });
    if (outcome !== 'done') return;
    this.controls.push({ type, session, runId });
    await world.wait(world.draws.delay(`${place} for`, holding.shortest, holding.longest));
    const isOver = this.lets(session);
    await this.#caller.call({
      place: `${place} end`,
      text: `${runId} is to go on`,
      make: (app) => {
        const run = app.resume(session);
        run.catch(() => undefined);
        return run.accepted();
      },
      isPassing: (code) => code !== 'no_open_run',
    });
    isOver();
  }

  /**
   * Notes that people let a session go on from now on: they resume it, or ask for its run again.
   * Returns a function that notes the end of that.
   */
  lets(session: string): () => void {
    const letGo: LetGo = { session, from: this.#world.elapsed, until: Number.POSITIVE_INFINITY };
    this.letGo.push(letGo);
    return () => {
      letGo.until = this.#world.elapsed;
    };
  }
}
