import {
  type Agent,
  agent,
  agentTool,
  memoryStore,
  parallel,
  type RequestAnswer,
  type Runnable,
  type Runtime,
  runtime,
  type Store,
  type Tool,
  tool,
} from 'adjutant';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { eventsOf } from './events-of.ts';
import { fastClock } from './fast-clock.ts';

type Change =
  | 'none'
  | 'tool renamed'
  | 'tool removed'
  | 'arguments no longer taken'
  | 'version changed'
  | 'agent renamed'
  | 'agent removed';
type Place = "an agent's tool" | 'a tool of an agent that is a tool' | 'a tool inside parallel';
type Kind = 'approve' | 'edit' | 'reject' | 'input';

const answers: Record<Kind, RequestAnswer> = {
  approve: { decision: 'approve', by: 'ann' },
  edit: { decision: 'edit', input: { cents: 7 }, by: 'ann' },
  reject: { decision: 'reject', reason: 'too much', by: 'ann' },
  input: { decision: 'answer', input: { code: 4 }, by: 'ann' },
};

function payTool(change: Change, kind: Kind, did: string[]): Tool {
  const schema =
    change === 'arguments no longer taken'
      ? z.object({ euros: z.number() })
      : z.object({ cents: z.number() });
  return tool({
    name: change === 'tool renamed' ? 'transfer' : 'pay',
    description: 'Pays',
    schema: schema as z.ZodType<Record<string, number>>,
    ...(change === 'version changed' ? { version: '2' } : {}),
    ...(kind === 'input' ? { yieldSchema: z.object({ code: z.number() }) } : { approval: true }),
    execute: ({ args, input }) => {
      did.push(`paid ${JSON.stringify(args)} ${JSON.stringify(input ?? null)}`);
      return 'paid';
    },
  }) as Tool;
}

/** An agent that calls one tool and is done. */
function caller(
  name: string,
  called: string,
  args: Record<string, unknown>,
  tools: readonly Tool[],
  did: string[],
): Agent {
  const model = scriptedModel((prompt) => {
    did.push(`model of ${name}`);
    return prompt.some(({ role }) => role === 'tool')
      ? { text: 'done' }
      : { toolCalls: [{ name: called, args: args as never }] };
  });
  return agent({ name, description: 'Works', tools, model });
}

function define(place: Place, change: Change, kind: Kind, did: string[]): Runnable {
  const tools = change === 'tool removed' ? [] : [payTool(change, kind, did)];
  const name = change === 'agent renamed' ? 'cashier' : 'payer';
  const payer = caller(name, 'pay', { cents: 5 }, tools, did);
  if (place === "an agent's tool")
    return change === 'agent removed' ? caller('other', 'nothing', {}, [], did) : payer;
  if (place === 'a tool of an agent that is a tool') {
    return caller(
      'boss',
      'payer',
      { message: 'Pay' },
      change === 'agent removed' ? [] : [agentTool(payer)],
      did,
    );
  }
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: z.object({}),
    approval: true,
    execute: () => void did.push('asked'),
  }) as Tool;
  const other = caller('other', 'ask', {}, [ask], did);
  return parallel({
    name: 'both',
    runnables: change === 'agent removed' ? [other] : [payer, other],
  });
}

function processOf(store: Store, runnable: Runnable): Runtime {
  return runtime({
    app: 'answers',
    store,
    runnables: [runnable],
    recover: 'manual',
    ports: { clock: fastClock() },
  });
}

/** Returns the end of `resume`: the status, or the code of the error. */
const resumed = (app: Runtime): Promise<string> =>
  Promise.resolve(app.resume('s')).then(
    ({ status }) => status,
    (error: { code: string }) => error.code,
  );

interface Case {
  readonly place: Place;
  readonly change: Change;
  readonly kind: Kind;
  readonly where: 'in the same process' | 'after a restart';
}

const places: readonly Place[] = [
  "an agent's tool",
  'a tool of an agent that is a tool',
  'a tool inside parallel',
];
const changes: readonly Change[] = [
  'tool renamed',
  'tool removed',
  'arguments no longer taken',
  'version changed',
  'agent renamed',
  'agent removed',
];
const kinds: readonly Kind[] = ['approve', 'edit', 'reject', 'input'];
const cases: readonly Case[] = (['in the same process', 'after a restart'] as const).flatMap(
  (where) =>
    places.flatMap((place) =>
      changes.flatMap((change) => kinds.map((kind) => ({ place, change, kind, where }))),
    ),
);

/**
 * A run that waits for the payment's question, which is answered then. `app` is closed for a
 * restart.
 */
async function answered({ place, kind, where }: Case, store: Store): Promise<string> {
  const did: string[] = [];
  const runnable = define(place, 'none', kind, did);
  const app = processOf(store, runnable);
  await app.run(runnable, { session: 's', runId: 'run', input: 'Go' });
  const question = (await app.requests.list({ status: 'pending' })).find(
    ({ name }) => name === 'pay',
  );
  await app.requests.answer(question?.requestId ?? '', answers[kind]);
  if (where === 'after a restart') await app.close();
  return question?.requestId ?? '';
}

test.each(cases)('B19: $kind of $place is not used up when $change $where', async (given) => {
  const { place, change, kind } = given;
  const store = keptOpen(memoryStore());
  const requestId = await answered(given, store);
  const did: string[] = [];
  const app = processOf(store, define(place, change, kind, did));
  const isAgent = change.startsWith('agent');
  const outcome = await resumed(app);
  const events = await eventsOf(app);
  const decisions = events.filter(
    (event) => event.type === 'decision' && event.component === 'request',
  );
  expect(did.filter((what) => what.startsWith('paid') || what === 'asked')).toEqual([]);
  if (kind === 'reject' && !isAgent) {
    // Nothing is to be done, and for that no tool is needed.
    expect(outcome).toBe(place === 'a tool inside parallel' ? 'yielded' : 'completed');
    expect(
      events.find((event) => event.type === 'tool_result' && event.name === 'pay'),
    ).toMatchObject({ result: { errorType: 'rejected' } });
    await app.close();
    return;
  }
  expect(did).toEqual([]);
  if (change === 'version changed') {
    expect(outcome).toBe('yielded');
    const again = (await app.requests.list({ status: 'pending' })).find(
      ({ name }) => name === 'pay',
    );
    expect(again?.requestId).not.toBe(requestId);
    expect(
      events.findLast((event) => event.type === 'tool_yield' && event.name === 'pay'),
    ).toMatchObject({ generation: 2 });
    expect(decisions).toMatchObject([
      {
        decision: 'ask_again',
        data: { requestId },
        reasoning: expect.stringContaining('has changed'),
      },
    ]);
    await app.close();
    return;
  }
  expect(['ledger_mismatch', 'unknown_runnable']).toContain(outcome);
  expect(decisions).toMatchObject([
    {
      decision: 'unusable',
      data: { requestId },
      reasoning: expect.stringContaining('user:ann is not used: '),
    },
  ]);
  expect(explain(events, { components: ['request'] })).toContainEqual(
    expect.objectContaining({ decision: 'unusable' }),
  );
  // Trying again says nothing more.
  expect(await resumed(app)).toBe(outcome);
  expect((await eventsOf(app)).length).toBe(events.length);
  await app.close();

  const restored: string[] = [];
  const right = processOf(store, define(place, 'none', kind, restored));
  const end = await resumed(right);
  expect(end).toBe(place === 'a tool inside parallel' ? 'yielded' : 'completed');
  const args = kind === 'edit' ? { cents: 7 } : { cents: 5 };
  const input = kind === 'input' ? { code: 4 } : null;
  const paid = kind === 'reject' ? [] : [`paid ${JSON.stringify(args)} ${JSON.stringify(input)}`];
  expect(restored.filter((what) => what.startsWith('paid'))).toEqual(paid);
  await right.close();
});
