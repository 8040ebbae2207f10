import {
  agent,
  type Event,
  type Runtime,
  runtime,
  type Step,
  type Store,
  step,
  tool,
} from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { appendBoundaries, scriptedModel } from 'adjutant/testing';

/**
 * One statement of a branch of a body. Each but a plain write gives the other branches their turn.
 */
export type Statement =
  | { readonly does: 'increment'; readonly key: string }
  | { readonly does: 'set'; readonly key: string; readonly value: number }
  | { readonly does: 'add'; readonly key: string; readonly by: number; readonly id?: string }
  | { readonly does: 'multiply'; readonly key: string; readonly by: number; readonly id: string }
  /** Sets `key` only if what it reads has this remainder when it is divided by two. */
  | {
      readonly does: 'decide';
      readonly reads: string;
      readonly remainder: number;
      readonly key: string;
      readonly value: number;
    }
  | { readonly does: 'effect' }
  | { readonly does: 'pause' }
  /** Calls a child that changes the key, or nothing. */
  | {
      readonly does: 'call';
      readonly key?: string;
      readonly by: number;
      readonly how: 'increment' | 'add';
    }
  /** Calls a step with branches of its own. */
  | { readonly does: 'nest'; readonly program: Program }
  /**
   * Calls an agent whose hook and whose tool, which has an effect in between, each add one to the
   * key.
   */
  | { readonly does: 'ask'; readonly key: string };

/** Branches that run beside each other in one body. */
export type Program = readonly (readonly Statement[])[];

export type Values = Readonly<Record<string, number>>;

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface State {
  [key: string]: unknown;
  update(key: string, change: (value: unknown) => unknown, options?: { id?: string }): void;
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** A plain write, or nothing: what other branches can do in between begins after it. */
function write(state: State, statement: Statement): void {
  switch (statement.does) {
    case 'increment':
      state[statement.key] = numberOf(state[statement.key]) + 1;
      break;
    case 'set':
      state[statement.key] = statement.value;
      break;
    case 'add': {
      const { key, by, id } = statement;
      state.update(key, (value) => numberOf(value) + by, id === undefined ? undefined : { id });
      break;
    }
    case 'multiply': {
      const { key, by, id } = statement;
      state.update(key, (value) => numberOf(value) * by, { id });
      break;
    }
    case 'decide':
      if (numberOf(state[statement.reads]) % 2 === statement.remainder)
        state[statement.key] = statement.value;
      break;
    default:
  }
}

function childOf(pause: () => Promise<void>): Step {
  return step({
    name: 'child',
    execute: async (ctx) => {
      const { key, by, how } = (ctx.input?.data ?? {}) as { key?: string; by: number; how: string };
      await pause();
      if (key === undefined) return;
      if (how === 'add') ctx.state.update(key, (value) => numberOf(value) + by);
      else ctx.state[key] = numberOf(ctx.state[key]) + by;
    },
  });
}

/**
 * An agent that calls a tool once: its hook adds one to the key, and its tool adds one before and
 * one after an effect.
 */
function asking(key: string) {
  const count = tool({
    name: 'count',
    description: 'Counts',
    schema: { type: 'object' },
    recovery: 'rerun',
    execute: async (ctx) => {
      ctx.state.update(key, (value) => numberOf(value) + 1);
      await ctx.effect('inside', () => 1, { recovery: 'rerun' });
      ctx.state.update(key, (value) => numberOf(value) + 1);
      return 'counted';
    },
  });
  return agent({
    name: `asking_${key}`,
    model: scriptedModel((prompt) =>
      prompt.some(({ role }) => role === 'tool')
        ? { text: 'done' }
        : { toolCalls: [{ name: 'count', args: {} }] },
    ),
    tools: [count],
    hooks: {
      afterAgent: (ctx) => {
        ctx.state.update(key, (value) => numberOf(value) + 1);
      },
    },
  });
}

export type Scope = 'session' | 'user';

/** The step that carries out a program. @param pause waits for another time at each place */
function stepOf(program: Program, scope: Scope, pause: () => Promise<void>, name = 'body'): Step {
  const child = childOf(pause);
  return step({
    name,
    execute: async (ctx) => {
      const state = (scope === 'user' ? ctx.state['user'] : ctx.state) as State;
      const branch = async (statements: readonly Statement[], b: number): Promise<void> => {
        for (const [s, statement] of statements.entries()) {
          const place = `${name}-${b}-${s}`;
          write(state, statement);
          if (statement.does === 'effect')
            await ctx.effect(place, () => pause().then(() => 1), { recovery: 'rerun' });
          else if (statement.does === 'pause') await pause();
          else if (statement.does === 'call') {
            const { key, by, how } = statement;
            await ctx.call(child, {
              key: place,
              data: { ...(key === undefined ? {} : { key }), by, how },
            });
          } else if (statement.does === 'ask')
            await ctx.call(asking(statement.key), { key: place, message: 'count' });
          else if (statement.does === 'nest')
            await ctx.call(stepOf(statement.program, scope, pause, place), { key: place });
        }
      };
      await Promise.all(program.map(branch));
    },
  });
}

/** Waits for some turns of the event loop: never for time. */
function pauses(random: () => number, most = 4): () => Promise<void> {
  return async () => {
    const turns = Math.floor(random() * most);
    for (let turn = 0; turn < turns; turn++)
      await new Promise<void>((resolve) => setImmediate(resolve));
  };
}

/** A clock that moves on with each look, so that every append has a time of its own. */
export function countingClock(): typeof systemClock {
  let now = 1_700_000_000_000;
  return { ...systemClock, now: () => ++now };
}

export type Ending =
  | { readonly values: Values; readonly events: readonly Event[] }
  | { readonly error: string; readonly events: readonly Event[] };

function valuesOf(state: Readonly<Record<string, unknown>>): Values {
  return Object.fromEntries(
    Object.entries(state).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  );
}

/** Runs programs in one app and goes on from the first events of their ledgers. */
export class Programs {
  readonly app: Runtime;
  #sessions = 0;

  constructor(store: Store) {
    this.app = runtime({
      app: 'programs',
      store,
      ports: { clock: countingClock() },
      recover: 'manual',
    });
  }

  /** @param events of a run that was stopped there @default none */
  async run(
    program: Program,
    random: () => number,
    options: { readonly events?: readonly Event[]; readonly scope?: Scope } = {},
  ): Promise<Ending> {
    const { events, scope = 'session' } = options;
    const id = `s${this.#sessions++}`;
    const body = stepOf(program, scope, pauses(random));
    // Each session has a user of its own, so that nobody else writes the scope.
    const session =
      events === undefined
        ? await this.app.sessions.open({
            id,
            ...(scope === 'user' ? { userId: `user-${id}` } : {}),
          })
        : await this.app.sessions.restore({ app: 'programs', id, events: [...events] });
    try {
      const result = await this.app.run(body, { session, runId: 'run' });
      if (result.status !== 'completed')
        return {
          error: `${result.status}: ${JSON.stringify(result.error)}`,
          events: session.events,
        };
      const state = (scope === 'user' ? session.state['user'] : session.state) as Record<
        string,
        unknown
      >;
      return { values: valuesOf({ ...state }), events: session.events };
    } catch (error) {
      return { error: String((error as { code?: unknown }).code ?? error), events: session.events };
    }
  }

  /** Runs a program, stops it once or twice at random appends, and goes on with other times. */
  async stopped(
    program: Program,
    random: () => number,
  ): Promise<{ readonly ending: Ending; readonly cuts: readonly number[] }> {
    let ending = await this.run(program, random);
    const cuts: number[] = [];
    const stops = 1 + Math.floor(random() * 2);
    for (let stop = 0; stop < stops && 'values' in ending; stop++) {
      const boundaries = appendBoundaries(ending.events).filter(
        (at) => at > (cuts.at(-1) ?? 0) && at < ending.events.length,
      );
      const cut = boundaries[Math.floor(random() * boundaries.length)];
      if (cut === undefined) break;
      cuts.push(cut);
      ending = await this.run(program, random, { events: ending.events.slice(0, cut) });
    }
    return { ending, cuts };
  }

  /**
   * As `stopped`, in the scope of a user that another session looks at: really stopped, and
   * continued in the same session.
   */
  async stoppedShared(
    program: Program,
    random: () => number,
  ): Promise<{ readonly ending: Ending; readonly shared: number; readonly most: number }> {
    const userId = `user-${this.#sessions++}`;
    const session = await this.app.sessions.create({ id: `s-${userId}`, userId });
    const other = await this.app.sessions.create({ id: `o-${userId}`, userId });
    const count = async (): Promise<number> => {
      await other.state.refresh();
      return numberOf((other.state['user'] as Record<string, unknown>)['n']);
    };
    const body = stepOf(program, 'user', pauses(random));
    let most = 0;
    for (let left = 1 + Math.floor(random() * 8); ; left = 1 + Math.floor(random() * 8)) {
      const run = this.app.run(body, { session: session.id, runId: 'run' });
      try {
        for await (const event of run) if (event.type === 'tool_result' && --left === 0) break;
        if (left <= 0) {
          run.stop();
          await run.settled();
          most = Math.max(most, await count());
          continue;
        }
        const result = await run;
        const shared = await count();
        const ending =
          result.status === 'completed'
            ? { values: {}, events: [] }
            : { error: JSON.stringify(result.error), events: [] };
        return { ending, shared, most: Math.max(most, shared) };
      } catch (error) {
        return {
          ending: { error: String((error as { code?: unknown }).code ?? error), events: [] },
          shared: await count(),
          most,
        };
      }
    }
  }
}
