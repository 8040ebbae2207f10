import type { Clock } from '../../base/clock.ts';
import type { Host } from '../../base/host.ts';
import type { World } from './world.ts';

/** A promise of a process that is no more. */
export function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => undefined);
}

/** Wall clock of a simulated machine, which all processes of the machine share. */
export interface WallClock {
  /** Milliseconds by which it is ahead of the time. */
  offset: number;
}

const symbols = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * A simulated process of the operating system: the `Host` of one runtime. When it has been killed,
 * none of its ports answers any more, and none of its timers fires.
 */
export class MachineProcess implements Host {
  readonly name: string;
  readonly owner: string;
  readonly clock: Clock;
  readonly ids: Host['ids'];
  readonly random: Host['random'];
  readonly turns: Host['turns'];
  /** Time of the simulation, in milliseconds, up to which the process did not reach the store. */
  troubledAt = Number.NEGATIVE_INFINITY;
  readonly #world: World;
  #isDead = false;
  #pausedUntil = 0;
  #drawn = 0;

  constructor(world: World, name: string, wall: WallClock) {
    this.#world = world;
    this.name = name;
    this.owner = `simulated/${name}`;
    const startedAt = world.elapsed;
    this.clock = {
      now: () => Math.floor(world.now + wall.offset),
      monotonic: () => world.elapsed - startedAt,
      setTimer: (ms, task) => this.setBackgroundTimer(ms, task),
    };
    this.ids = { next: () => this.#nextId() };
    this.random = { next: () => this.#draw('random') };
    // Work is counted in steps and not in time: one turn holds all of it.
    this.turns = { pass: () => undefined };
  }

  /** True when the process has been killed. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Kills the process: from now on it is silent. */
  kill(): void {
    this.#isDead = true;
  }

  /** Lets the process stand still: its timers and what it waits for come afterwards. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#world.elapsed + ms);
    this.troubled(ms);
  }

  /** Notes that the process does not reach the store as usual, for so many milliseconds. */
  troubled(ms = 0): void {
    this.troubledAt = Math.max(this.troubledAt, this.#world.elapsed + ms);
  }

  setBackgroundTimer(ms: number, task: () => void): () => void {
    const fire = (): void => {
      const left = this.#pausedUntil - this.#world.elapsed;
      if (left > 0) cancel = this.#world.after(left, fire);
      else if (!this.#isDead) task();
    };
    let cancel = this.#world.after(ms, fire);
    return () => cancel();
  }

  afterTurn(task: () => void): void {
    this.setBackgroundTimer(0, task);
  }

  /** Objects are kept: the collector of memory has no seed. */
  reference<Value extends object>(value: Value): { deref(): Value } {
    return { deref: () => value };
  }

  warn(message: string, code: string): void {
    this.#world.note(`${this.name} warns: ${code}: ${message}`);
  }

  /** Resolves after so many milliseconds, unless the process is killed until then. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.setBackgroundTimer(ms, resolve));
  }

  #draw(what: string): number {
    return this.#world.draws.at(`${this.name} ${what} ${this.#drawn++}`);
  }

  #nextId(): string {
    let id = '';
    for (let part = 0; part < 4; part++) {
      let bits = Math.floor(this.#draw('id') * 2 ** 20);
      for (let symbol = 0; symbol < 4; symbol++, bits >>>= 5) id += symbols[bits & 31];
    }
    return id;
  }
}
