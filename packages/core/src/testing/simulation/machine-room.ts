import type { RuntimeOptions } from '../../engine/app/runtime-options.ts';
import type { Store } from '../../ledger/port.ts';
import { Runtime } from '../../runtime.ts';
import type { FaultPlan } from './faults.ts';
import { MachineProcess, type WallClock } from './machine.ts';
import {
  checkAppOptions,
  checkVersion,
  type FirstVersion,
  isRefusal,
} from './options/check-app.ts';
import { simulatedCalls } from './simulated-calls.ts';
import { simulatedStore } from './simulated-store.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

/** Milliseconds from the end of a process to the start of the next, at least and at most. */
const restart = { fastest: 100, slowest: 600_000 };
/** Milliseconds for which a process that is asked to end may go on. */
const graceMs = 30_000;
/** Milliseconds by which a wall clock may be set, forwards or backwards. */
const largestJumpMs = 600_000;

/** Times at which a machine may get the next version of the code. */
const mostDeploys = 8;

/** Options of an app, without those that the simulation gives. */
export type SimulatedApp = Omit<RuntimeOptions, 'store' | 'ports' | 'recover'>;

/** A process for which an app is made. */
export interface AppOfProcess<Outside = undefined> {
  /** Version of the code, from 1: deployments raise it. */
  readonly version: number;
  /** The doubles of the world outside, which all processes of a run share. */
  readonly outside: Outside;
}

/** Makes the app of a process. */
export type MakeApp<Outside = undefined> = (process: AppOfProcess<Outside>) => SimulatedApp;

/** Makes the app of a version, with the doubles of this run. */
export type MakeVersion = (version: number) => SimulatedApp;

interface RoomParts {
  readonly world: World;
  readonly plan: FaultPlan;
  readonly watch: Watch;
  /** The store that all processes share. */
  readonly store: Store;
  readonly makeVersion: MakeVersion;
  /** Name of the app and programs that all versions of the app have in common. */
  readonly first: FirstVersion;
  /** Milliseconds within which clocks are set and code is deployed. */
  readonly disturbedMs: number;
}

/** A machine: the processes that it has one by one, and its wall clock. */
class Machine {
  readonly name: string;
  readonly wall: WallClock = { offset: 0 };
  process: MachineProcess | undefined;
  app: Runtime | undefined;
  starts = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** The machines of a simulation. Each has one process at a time, or none for a while. */
export class MachineRoom {
  readonly #parts: RoomParts;
  readonly #machines: readonly Machine[];
  #version = 1;
  #isCalm = false;
  /** Milliseconds of the simulation at which another version of the code first came. */
  editedAt = Number.POSITIVE_INFINITY;

  constructor(count: number, parts: RoomParts) {
    this.#parts = parts;
    this.#machines = Array.from({ length: count }, (_, index) => new Machine(`p${index + 1}`));
    for (const machine of this.#machines) {
      this.#start(machine);
      this.#schedule(machine);
    }
  }

  /** An app of a live process, for a caller from outside; `undefined` when none is there. */
  someApp(place: string): { readonly app: Runtime; readonly process: MachineProcess } | undefined {
    const live = this.#machines.filter(({ process }) => process?.isDead === false);
    const machine = live[Math.floor(this.#parts.world.draws.at(place) * live.length)];
    if (machine?.app === undefined || machine.process === undefined) return undefined;
    return { app: machine.app, process: machine.process };
  }

  /**
   * Starts all machines anew with one version of the code, as when nothing is to fail any more. It
   * is an odd version at first: apps may have edits in every second one, which are taken back.
   */
  restartAll(): void {
    this.#version += this.#isCalm ? 1 : 1 + (this.#version % 2);
    this.#isCalm = true;
    this.editedAt = Math.min(this.editedAt, this.#parts.world.elapsed);
    for (const machine of this.#machines) {
      machine.process?.kill();
      this.#start(machine);
    }
  }

  #start(machine: Machine): void {
    const { first, makeVersion, plan, store, watch, world } = this.#parts;
    if (machine.process?.isDead === false || watch.broken.length > 0) return;
    machine.starts++;
    const process = new MachineProcess(world, `${machine.name}.${machine.starts}`, machine.wall);
    const caller = {
      world,
      plan,
      process,
      machine: machine.name,
      stop: () => this.#kill(machine, process),
    };
    machine.process = process;
    watch.joined(process);
    world.note(`${process.name} starts with version ${this.#version}`);
    const version = this.#version;
    try {
      const options = makeVersion(version);
      checkAppOptions(options);
      machine.app = new Runtime({
        ...options,
        store: simulatedStore(store, caller),
        ports: { host: process, standIns: simulatedCalls(caller) },
        recover: 'auto',
      });
      checkVersion(machine.app, { app: options.app, version }, first);
    } catch (error) {
      process.kill();
      if (isRefusal(error)) world.fail(error);
      else watch.reportError('app_starts', error, `version ${version} of the app does not start: `);
    }
  }

  #kill(machine: Machine, process: MachineProcess): void {
    process.kill();
    const { world } = this.#parts;
    const place = `restart ${process.name}`;
    world.after(world.draws.delay(place, restart.fastest, restart.slowest), () =>
      this.#start(machine),
    );
  }

  /** Sets clocks and deploys code, where the plan says so. */
  #schedule(machine: Machine): void {
    const { disturbedMs, plan, world } = this.#parts;
    for (let time = 0; time < 3; time++) {
      const jump = plan.visit(`${machine.name}/clock`);
      world.after(world.draws.at(jump) * disturbedMs, () => {
        if (!plan.happens('clockJump', jump)) return;
        machine.wall.offset = (world.draws.at(`${jump} to`) * 2 - 1) * largestJumpMs;
        world.note(`${machine.name} has its clock set to ${Math.round(machine.wall.offset)} ms`);
      });
    }
    for (let time = 0; time < mostDeploys; time++) {
      const deploy = plan.visit(`${machine.name}/deploy`);
      world.after(world.draws.at(deploy) * disturbedMs, () => {
        if (plan.happens('deploy', deploy)) this.#deploy(machine);
      });
    }
  }

  /** Closes the process in order, or kills it when that takes long, and starts the next version. */
  #deploy(machine: Machine): void {
    const { process, app } = machine;
    if (process === undefined || process.isDead || app === undefined) return;
    const { world } = this.#parts;
    world.note(`${process.name} is asked to end`);
    this.#version++;
    this.editedAt = Math.min(this.editedAt, world.elapsed);
    const end = (): void => {
      if (process.isDead) return;
      world.note(`${process.name} ends`);
      process.kill();
      this.#start(machine);
    };
    app.close().then(end, end);
    world.after(graceMs, end);
  }
}
