import {
  type Agent,
  agent,
  memoryStore,
  type Runnable,
  runtime,
  type Store,
  step,
  type Tool,
  tool,
} from 'adjutant';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fastClock } from './fast-clock.ts';

type Begun =
  | 'an open effect'
  | 'an open child'
  | 'an open spawned child'
  | 'a settled effect'
  | 'an ended child';
type Change = 'none' | 'tool renamed' | 'tool removed' | 'arguments no longer taken';

interface World {
  readonly charges: string[];
  readonly told: string[];
  /** Stops the first process when it has charged; nothing goes on there. */
  readonly interrupt: () => Promise<void>;
}

/** A tool that charges, by a child or an effect. */
function payTool(
  begun: Begun,
  change: Change,
  { charges, interrupt }: World,
): { readonly pay: Tool; readonly children: readonly Runnable[] } {
  const charge = step({
    name: 'charge',
    execute: async (ctx) => {
      charges.push('charged');
      if (begun !== 'an ended child') await ctx.effect('wait', interrupt, { recovery: 'rerun' });
      return ctx.complete('charged');
    },
  });
  const schema =
    change === 'arguments no longer taken'
      ? z.strictObject({ euros: z.number() })
      : z.object({ cents: z.number() });
  const pay = tool({
    name: change === 'tool renamed' ? 'transfer' : 'pay',
    description: 'Pays',
    schema: schema as z.ZodType<Record<string, number>>,
    execute: async (ctx) => {
      if (begun === 'an open child') return (await ctx.call(charge, { message: 'Charge' })).output;
      if (begun === 'an open spawned child')
        return (await ctx.spawn(charge, { message: 'Charge' }).wait()).output;
      if (begun === 'an ended child') await ctx.call(charge, { message: 'Charge' });
      else {
        await ctx.effect('charge', async () => {
          charges.push('charged');
          if (begun === 'an open effect') await interrupt();
          return 'charged';
        });
      }
      await interrupt();
      return 'charged';
    },
  }) as Tool;
  return { pay, children: [charge] };
}

/**
 * Calls the tool, and calls it again under its new name when it is told that the first call was
 * wrong.
 */
function payer(change: Change, tools: readonly Tool[], told: string[]): Agent {
  const again =
    change === 'arguments no longer taken'
      ? { name: 'pay', args: { euros: 1 } }
      : { name: 'transfer', args: { cents: 5 } };
  const model = scriptedModel((prompt) => {
    const last = prompt.at(-1);
    if (last?.role !== 'tool') return { toolCalls: [{ name: 'pay', args: { cents: 5 } }] };
    const text = JSON.stringify(last.content);
    told.push(text);
    return /There is no tool|do not fit/.test(text) ? { toolCalls: [again] } : { text: 'done' };
  });
  return agent({ name: 'payer', tools: change === 'tool removed' ? [] : [...tools], model });
}

async function interruptedRun(store: Store, begun: Begun): Promise<void> {
  let stop = (): void => {};
  const world: World = {
    charges: [],
    told: [],
    interrupt: () => {
      stop();
      return new Promise(() => {});
    },
  };
  const { pay, children } = payTool(begun, 'none', world);
  const cashier = payer('none', [pay], world.told);
  const app = runtime({
    app: 'shop',
    store,
    runnables: [cashier, ...children],
    recover: 'manual',
    ports: { clock: fastClock() },
  });
  const run = app.run(cashier, { session: 's', runId: 'run', input: 'Go' });
  stop = () => void run.stop();
  await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
  await run.settled();
  expect(world.charges).toEqual(['charged']);
  await app.close();
}

/** Goes on with the run in another process, with edited code. */
async function goOn(store: Store, begun: Begun, change: Change) {
  const world: World = { charges: [], told: [], interrupt: async () => {} };
  const { pay, children } = payTool(begun, change, world);
  const cashier = payer(change, [pay], world.told);
  const app = runtime({
    app: 'shop',
    store,
    runnables: [cashier, ...children],
    recover: 'manual',
    ports: { clock: fastClock() },
  });
  const outcome = await Promise.resolve(app.resume('s')).then(
    ({ status }) => status,
    (error: { code: string }) => error.code,
  );
  await app.close();
  return { outcome, ...world };
}

async function typesIn(store: Store): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const page of store.for({ tenant: 'default', app: 'shop' }).read('s'))
    types.push(...page.map(({ type }) => type));
  return types;
}

const changes: readonly Change[] = ['tool renamed', 'tool removed', 'arguments no longer taken'];
const openParts: readonly Begun[] = ['an open effect', 'an open child', 'an open spawned child'];
const endedParts: readonly Begun[] = ['a settled effect', 'an ended child'];
const pairs = (parts: readonly Begun[]) =>
  parts.flatMap((begun) => changes.map((change) => ({ begun, change })));

test.each(pairs(openParts))(
  'B19: a call with $begun is not refused when $change: the run says so and waits for the tool',
  async ({ begun, change }) => {
    const store = keptOpen(memoryStore());
    await interruptedRun(store, begun);

    const before = await typesIn(store);

    for (let i = 0; i < 2; i++) {
      const edited = await goOn(store, begun, change);
      expect(edited).toMatchObject({ outcome: 'ledger_mismatch', charges: [], told: [] });
      // The mismatch leaves the ledger as it is.
      expect(await typesIn(store)).toEqual(before);
    }
    // With the right code the call goes on.
    expect((await goOn(store, begun, 'none')).outcome).toBe('completed');
  },
);

test.each(pairs(endedParts))(
  'B19: a call with $begun is not told to have done nothing when $change',
  async ({ begun, change }) => {
    const store = keptOpen(memoryStore());
    await interruptedRun(store, begun);

    const { outcome, charges, told } = await goOn(store, begun, change);

    expect(outcome).toBe('completed');
    expect(charges).toEqual([]);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('It is not known whether this call took effect');
  },
);

/** An agent whose tool calls another agent, whose tool is asked about. */
function delegating(
  change: Change,
  paid: string[],
): { readonly boss: Agent; readonly worker: Agent } {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => {
      paid.push('paid');
      return 'paid';
    },
  });
  const worker = agent({
    name: 'worker',
    tools: [pay as Tool],
    model: scriptedModel((prompt) =>
      prompt.some(({ role }) => role === 'tool')
        ? { text: 'paid' }
        : { toolCalls: [{ name: 'pay', args: {} }] },
    ),
  });
  return { boss: payer(change, [askTool(change, worker)], []), worker };
}

function askTool(change: Change, worker: Agent): Tool {
  const schema =
    change === 'arguments no longer taken'
      ? z.strictObject({ euros: z.number() })
      : z.object({ cents: z.number() });
  return tool({
    name: change === 'tool renamed' ? 'transfer' : 'pay',
    description: 'Has it paid',
    schema: schema as z.ZodType<Record<string, number>>,
    execute: async (ctx) => (await ctx.call(worker, { message: 'Pay' })).output,
  }) as Tool;
}

test.each(changes)(
  'B19: an approval below a tool that calls an agent is not used up when, for that tool, %s',
  async (change) => {
    const store = keptOpen(memoryStore());
    const paid: string[] = [];
    const processWith = (now: Change) => {
      const { boss, worker } = delegating(now, paid);
      return {
        boss,
        app: runtime({
          app: 'shop',
          store,
          runnables: [boss, worker],
          recover: 'manual',
          ports: { clock: fastClock() },
        }),
      };
    };
    const first = processWith('none');
    const { pendingApprovals } = await first.app.run(first.boss, {
      session: 's',
      runId: 'run',
      input: 'Go',
    });
    await first.app.close();

    const second = processWith(change);
    await second.app.requests.answer(pendingApprovals[0]?.requestId ?? '', {
      decision: 'approve',
      by: 'ann',
    });
    await expect(second.app.resume('s')).rejects.toMatchObject({ code: 'ledger_mismatch' });
    await second.app.close();
    expect(paid).toEqual([]);

    const third = processWith('none');
    expect((await third.app.resume('s')).status).toBe('completed');
    expect(paid).toEqual(['paid']);
  },
);

/** A tool that fails, and the one that stands in for it, which charges and is interrupted. */
function standingIn(change: Change, { charges, interrupt }: World): readonly Tool[] {
  const schema =
    change === 'arguments no longer taken'
      ? z.strictObject({ euros: z.number() })
      : z.object({ cents: z.number() });
  const backup = tool({
    name: change === 'tool renamed' ? 'other' : 'backup',
    description: 'Pays another way',
    schema: schema as z.ZodType<Record<string, number>>,
    execute: async (ctx) => {
      await ctx.effect('charge', async () => {
        charges.push('charged');
        return 'charged';
      });
      await interrupt();
      return 'charged';
    },
  }) as Tool;
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    fallback: 'backup',
    execute: () => Promise.reject(Object.assign(new Error('forbidden'), { status: 403 })),
  }) as Tool;
  return change === 'tool removed' ? [pay] : [pay, backup];
}

test.each(changes)(
  'B19: a call whose tool that stands in for another one has charged is not told to have ' +
    'failed when, for that one, %s',
  async (change) => {
    const store = keptOpen(memoryStore());
    const processWith = (now: Change, world: World) => {
      const model = scriptedModel((prompt) => {
        const last = prompt.at(-1);
        if (last?.role !== 'tool') return { toolCalls: [{ name: 'pay', args: { cents: 5 } }] };
        world.told.push(JSON.stringify(last.content));
        return { text: 'done' };
      });
      const cashier = agent({
        name: 'payer',
        model,
        tools: [...standingIn(now, world)],
        supervision: { errors: { chains: { http_403: ['fallbackTool', 'report'] } } },
      });
      return {
        cashier,
        app: runtime({
          app: 'shop',
          store,
          runnables: [cashier],
          recover: 'manual',
          ports: { clock: fastClock() },
        }),
      };
    };
    let stop = (): void => {};
    const charges: string[] = [];
    const interrupt = (): Promise<void> => {
      stop();
      return new Promise(() => {});
    };
    const first = processWith('none', { charges, told: [], interrupt });
    const run = first.app.run(first.cashier, { session: 's', runId: 'run', input: 'Go' });
    stop = () => void run.stop();
    await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    await run.settled();
    await first.app.close();
    expect(charges).toEqual(['charged']);

    const told: string[] = [];
    const second = processWith(change, { charges, told, interrupt: async () => {} });
    expect((await second.app.resume('s')).status).toBe('completed');
    await second.app.close();
    expect(charges).toEqual(['charged']);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('It is not known whether this call took effect');
  },
);
