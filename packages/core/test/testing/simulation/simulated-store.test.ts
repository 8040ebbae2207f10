import { testClock } from '../../../src/base/clocks/test-clock.ts';
import type { LedgerStore, Store } from '../../../src/ledger/port.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import {
  type MakeStore,
  storeContract,
} from '../../../src/testing/contracts/store/store-contract.ts';
import { FaultPlan, type FaultRates } from '../../../src/testing/simulation/faults.ts';
import { MachineProcess } from '../../../src/testing/simulation/machine.ts';
import { simulatedStore } from '../../../src/testing/simulation/simulated-store.ts';
import { World } from '../../../src/testing/simulation/world.ts';

/** Milliseconds of simulated time that pass at once while a call is under way. */
const stepMs = 1_000;

/** Lets the time of a world pass while somebody waits for the store. */
class Pump {
  readonly #world: World;
  #waiting = 0;
  #isPumping = false;

  constructor(world: World) {
    this.#world = world;
  }

  over(store: Store): Store {
    return {
      ...store,
      for: (scope) => this.#wrap(store.for(scope)),
      admin: this.#wrap(store.admin),
      close: () => this.#during(store.close()),
    };
  }

  #wrap<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          const made: unknown = Reflect.apply(method, target, args);
          return made instanceof Promise
            ? this.#during(made)
            : this.#pages(made as ReturnType<LedgerStore['follow']>);
        };
      },
    });
  }

  async *#pages<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
    const iterator = pages[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#during(iterator.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await this.#during(Promise.resolve(iterator.return?.()));
    }
  }

  async #during<Made>(made: Promise<Made>): Promise<Made> {
    this.#waiting++;
    void this.#pump();
    try {
      return await made;
    } finally {
      this.#waiting--;
    }
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#waiting > 0) {
      await this.#world.runUntil(this.#world.elapsed + stepMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isPumping = false;
  }
}

function simulated(rates: FaultRates): MakeStore {
  let seed = 0;
  return async () => {
    const world = new World(++seed, false);
    const plan = new FaultPlan(world.draws, { rates });
    const process = new MachineProcess(world, 'p1.1', { offset: 0 });
    const clock = testClock();
    const caller = { world, plan, process, machine: 'p1', stop: () => undefined };
    const store = new Pump(world).over(simulatedStore(memoryStore({ clock }), caller));
    return { store, clock, cleanup: () => store.close() };
  };
}

await storeContract('simulated', simulated({}));
await storeContract('simulated, with late answers', simulated({ slowStore: 1 }));
