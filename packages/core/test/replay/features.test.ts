import {
  agent,
  type Event,
  memoryStore,
  parallel,
  pending,
  type Runnable,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Session,
  sequence,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import { responseCache } from 'adjutant/middleware';
import { recordedLedgerOf } from 'adjutant/replay';
import {
  eventually,
  roundModel,
  type ScriptedResponse,
  type TestClock,
  testClock,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { storePlaces } from '../store-places.ts';
import { problemOf } from './recorded-runs.ts';

interface Stage {
  readonly app: Runtime;
  readonly root: Runnable;
  readonly clock: TestClock;
  /** Resolves when the tool `hang` has begun; it ends with `letGo`. */
  readonly begun: Promise<void>;
  readonly letGo: () => void;
  /** Ends the tool `rest`. */
  readonly letRest: () => void;
}

interface Feature {
  define(tools: Tools): Runnable;
  readonly options?: Partial<RuntimeOptions>;
  act(stage: Stage): Promise<Session>;
  /** What must be in the record, so that it is about what it says. */
  has(event: Event): boolean;
}

type Tools = Pick<ReturnType<typeof hanging>, 'hang' | 'rest'>;

const none = z.object({});
const hours = 3_600_000;

function hanging() {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const hang = tool({
    name: 'hang',
    description: 'Takes its time',
    schema: none,
    timeoutMs: 5_000,
    execute: async () => {
      begun.resolve();
      await over.promise;
      return 'done after all';
    },
  });
  const rested = Promise.withResolvers<void>();
  const rest = tool({
    name: 'rest',
    description: 'Rests',
    schema: none,
    timeoutMs: 600_000,
    execute: () => rested.promise.then(() => 'rested'),
  });
  return { hang, rest, begun: begun.promise, letGo: over.resolve, letRest: rested.resolve };
}

const callOf = (name: string): ScriptedResponse => ({ toolCalls: [{ name, args: {} }] });
const pay = (approval: object) =>
  tool({
    name: 'pay',
    description: 'Pays',
    schema: none,
    recovery: 'report',
    approval,
    execute: () => 'paid',
  });
const paying = (approval: object) =>
  agent({
    name: 'payer',
    model: roundModel([callOf('pay'), { text: 'Paid.' }]),
    tools: [pay(approval)],
  });

async function run({ app, root }: Stage, input = 'Go', id = 'run'): Promise<Session> {
  return (await app.run(root, { session: 's', input, runId: id })).session;
}

/** Lets time pass until something has come. */
async function inTime<Value>(coming: PromiseLike<Value>, clock: TestClock): Promise<Value> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  coming.then(over, over);
  await eventually(() => isOver, { what: 'the end', clock, stepMs: 50 });
  return coming;
}

const requestOf = ({ ledger }: Session): string =>
  [...ledger.requests.values()][0]?.requestId ?? '';
const ofType = (type: Event['type']) => (event: Event) => event.type === type;
const decided = (decision: string) => (event: Event) =>
  event.type === 'decision' && event.decision === decision;

const features: Readonly<Record<string, Feature>> = {
  'several turns of a user': {
    define: () =>
      agent({
        name: 'talker',
        model: roundModel([{ text: 'one' }, { text: 'two' }, { text: 'three' }]),
      }),
    act: async (stage) => {
      await run(stage, 'first', 'one');
      await run(stage, 'second', 'two');
      return run(stage, 'third', 'three');
    },
    has: (event) => event.type === 'user' && event.text === 'third',
  },
  'values of more than 64 KB in inputs, results, state and outputs': {
    define: () =>
      sequence({
        name: 'all',
        runnables: [
          step({
            name: 'large',
            execute: (ctx) => {
              ctx.state['large'] = 'x'.repeat(70_000);
            },
          }),
          agent({
            name: 'reader',
            model: roundModel([callOf('read'), { text: 'z'.repeat(70_000) }]),
            tools: [
              tool({
                name: 'read',
                description: 'Reads',
                schema: none,
                recovery: 'rerun',
                execute: () => 'y'.repeat(70_000),
              }),
            ],
          }),
        ],
      }),
    act: (stage) => run(stage, 'i'.repeat(70_000)),
    has: (event) => JSON.stringify(event).includes('$blob'),
  },
  'an approval that expired': {
    define: () => paying({ expiresInMs: hours }),
    act: async (stage) => {
      const session = await run(stage);
      stage.clock.advance(2 * hours);
      return (await stage.app.resume(session)).session;
    },
    has: (event) => event.type === 'tool_input' && event.decision === 'expire',
  },
  'an approval that was handed up': {
    define: () =>
      paying({
        mayDecide: ['ann'],
        onExpire: 'escalate',
        escalateTo: ['boss'],
        expiresInMs: hours,
      }),
    act: async (stage) => {
      const session = await run(stage);
      stage.clock.advance(hours);
      await stage.app.resume(session);
      await stage.app.requests.approve(requestOf(session), { by: 'boss' });
      return (await stage.app.resume(session)).session;
    },
    has: decided('escalate'),
  },
  'a question of a step that is put again, and one that lost a race with a sleep': {
    define: () =>
      step({
        name: 'publish',
        execute: async (ctx) => {
          const schema = z.object({ title: z.string().refine((text) => text !== 'Draft') });
          const { title } = await ctx.ask('title', { message: 'Which title?', schema });
          const said = await Promise.race([
            ctx.ask('opinion', 'What do you think?'),
            ctx.sleep('an hour', hours).then(() => 'nothing'),
          ]);
          return ctx.complete({ title, said });
        },
      }),
    act: async (stage) => {
      const session = await run(stage);
      const { requests } = stage.app;
      await requests.answer(requestOf(session), { input: { title: 'Draft' } });
      await stage.app.resume(session);
      await requests.answer(requestOf(session), { input: { title: 'Our year' } });
      await stage.app.resume(session);
      stage.clock.advance(hours);
      return (await stage.app.resume(session)).session;
    },
    has: decided('ask_again'),
  },
  'an operation that goes on elsewhere': {
    define: () =>
      agent({
        name: 'filmer',
        model: roundModel([callOf('render'), { text: 'Rendered.' }]),
        tools: [
          tool({
            name: 'render',
            description: 'Renders',
            schema: none,
            execute: () => pending({ operationId: 'film' }),
          }),
        ],
      }),
    act: async (stage) => {
      const session = await run(stage);
      await stage.app.requests.answer(requestOf(session), { input: 'ready' });
      return (await stage.app.resume(session)).session;
    },
    has: (event) => event.type === 'tool_yield' && event.kind === 'result',
  },
  'a result that came too late': {
    define: (tools) =>
      agent({
        name: 'waiter',
        model: roundModel([callOf('hang'), callOf('rest'), { text: 'told' }]),
        tools: [tools.hang, tools.rest],
      }),
    act: async (stage) => {
      const running = run(stage);
      await stage.begun;
      const session = await stage.app.sessions.open({ id: 's' });
      const has = (is: (event: Event) => boolean): boolean => session.events.some(is);
      const isLate = (event: Event): boolean => event.type === 'tool_result' && event.late === true;
      await eventually(
        () => has((event) => event.type === 'tool_attempt' && event.callId === 'run/r2.0'),
        {
          what: 'the second call',
          clock: stage.clock,
          stepMs: 500,
        },
      );
      stage.letGo();
      await eventually(() => has(isLate), { what: 'the late result' });
      stage.letRest();
      return running;
    },
    has: (event) => event.type === 'tool_result' && event.late === true,
  },
  'a message that cuts a model call off': {
    define: () => {
      let asked = 0;
      const model = roundModel([{ text: 'heard' }]);
      const first = Promise.withResolvers<never>();
      const doStream: typeof model.doStream = (options) => {
        asked++;
        options.abortSignal?.addEventListener('abort', () =>
          first.reject(options.abortSignal?.reason),
        );
        return asked === 1 ? first.promise : model.doStream(options);
      };
      return agent({
        name: 'hearer',
        model: { ...model, doStream, doGenerate: model.doGenerate.bind(model) },
      });
    },
    act: async (stage) => {
      const running = run(stage);
      const session = await stage.app.sessions.open({ id: 's' });
      await eventually(() => session.events.some(ofType('model_start')), { what: 'the call' });
      await stage.app.send('s', 'Stop', { interrupt: true });
      await running;
      return session;
    },
    has: (event) => event.type === 'model_end' && event.status === 'cancelled',
  },
  'a pause': {
    define: (tools) =>
      agent({
        name: 'worker',
        model: roundModel([callOf('hang'), { text: 'done' }]),
        tools: [tools.hang],
      }),
    act: async (stage) => {
      const running = run(stage);
      await stage.begun;
      await stage.app.pause('s', { reason: 'lunch', by: 'operator:jo' });
      const session = await stage.app.sessions.open({ id: 's' });
      await eventually(() => session.events.some(decided('pause')), { what: 'the pause' });
      stage.letGo();
      await running;
      return (await stage.app.resume('s')).session;
    },
    has: decided('pause'),
  },
  'a cancel while branches are under way': {
    define: (tools) =>
      parallel({
        name: 'both',
        runnables: [
          agent({ name: 'stuck', model: roundModel([callOf('hang')]), tools: [tools.hang] }),
          agent({ name: 'beside', model: roundModel([{ text: 'beside' }]) }),
        ],
      }),
    act: async (stage) => {
      const running = run(stage);
      await stage.begun;
      await stage.app.cancel('s', { by: 'operator:jo', reason: 'enough' });
      return inTime(running, stage.clock);
    },
    has: ofType('cancel'),
  },
  'a run that failed and was reopened': {
    define: () =>
      sequence({
        name: 'all',
        runnables: [
          agent({ name: 'good', model: roundModel([{ text: 'good' }]) }),
          step({
            name: 'fixed',
            execute: async (ctx) => {
              const isThere = await ctx.effect('look', () => 'there', { recovery: 'rerun' });
              if (ctx.session.events.every(({ type }) => type !== 'invocation_reopen'))
                return ctx.fail('not yet');
              return ctx.complete(isThere);
            },
          }),
        ],
      }),
    act: async (stage) => {
      await run(stage);
      await stage.app.sessions.reopen('s', { reason: 'it is there now' });
      return (await stage.app.resume('s')).session;
    },
    has: ofType('invocation_reopen'),
  },
  'grants and limits given to a run': {
    define: () =>
      agent({
        name: 'writer',
        model: roundModel([callOf('write'), { text: 'written' }]),
        tools: [
          tool({
            name: 'write',
            description: 'Writes',
            schema: none,
            recovery: 'rerun',
            requiresPermission: ['fs:write'],
            execute: () => 1,
          }),
        ],
      }),
    act: async ({ app, root }) => {
      await app.run(root, { session: 's', input: 'Without', runId: 'without' });
      await app.sessions.grant('s', ['web:read'], { by: 'operator:eve' });
      return (
        await app.run(root, {
          session: 's',
          input: 'With',
          runId: 'with',
          permissions: ['fs:write'],
          limits: { rounds: 5 },
        })
      ).session;
    },
    has: decided('grant'),
  },
  'what another session wrote to a scope that both share': {
    define: () =>
      step({
        name: 'reading',
        stateSchema: { session: {}, user: { n: z.number() } },
        execute: async (ctx) => {
          const before = ctx.state.user.n ?? 0;
          await ctx.effect('look', () => before, { recovery: 'rerun' });
          ctx.state.user.n = before + 1;
        },
      }),
    options: { stateSchema: { session: {}, user: { n: z.number() } } },
    act: async ({ app, root }) => {
      const session = async (id: string) => app.sessions.open({ id, userId: 'ann' });
      await app.run(root, { session: await session('other'), input: 'Go' });
      const own = await session('s');
      await app.run(root, { session: own, input: 'Go', runId: 'one' });
      await app.run(root, { session: await session('other'), input: 'Go' });
      return (await app.run(root, { session: own, input: 'Go', runId: 'two' })).session;
    },
    has: (event) => event.type === 'state_change' && event.source === 'observation',
  },
  'facts that are remembered': {
    define: () =>
      agent({
        name: 'keeper',
        model: roundModel([callOf('keep'), { text: 'kept' }]),
        tools: [
          tool({
            name: 'keep',
            description: 'Keeps',
            schema: none,
            recovery: 'report',
            execute: async (ctx) => {
              ctx.remember('The sky is blue.', { key: 'sky' });
              await ctx.call(step({ name: 'child', execute: () => undefined }));
              ctx.remember('Grass is green.');
              ctx.state['kept'] = true;
              return 'kept';
            },
          }),
        ],
      }),
    act: (stage) => run(stage),
    has: ofType('memory'),
  },
  'answers from a cache': {
    define: () =>
      agent({
        name: 'talker',
        model: roundModel([{ text: 'one' }]),
        middleware: [responseCache()],
      }),
    act: async (stage) => {
      await stage.app.run(stage.root, { session: 'other', input: 'Go' });
      return run(stage);
    },
    has: (event) => event.type === 'model_end' && event.substitutedBy !== undefined,
  },
  'a circuit that other sessions have opened': {
    define: () =>
      agent({
        name: 'fetcher',
        model: roundModel([callOf('fetch'), { text: 'no' }]),
        tools: [
          tool({
            name: 'fetch',
            description: 'Fetches',
            schema: none,
            recovery: 'rerun',
            execute: () => {
              throw new ToolFailure('down', { errorType: 'http_500' });
            },
          }),
        ],
        supervision: { errors: { attempts: 1 } },
      }),
    options: { supervision: { circuitBreaker: { failures: 1 } } },
    act: async (stage) => {
      await inTime(stage.app.run(stage.root, { session: 'other', input: 'Go' }), stage.clock);
      return inTime(run(stage), stage.clock);
    },
    has: (event) =>
      event.type === 'decision' &&
      event.component === 'circuit_breaker' &&
      event.decision === 'refuse',
  },
  'calls that wait for their turn, and are judged by what came before': {
    define: () =>
      agent({
        name: 'worker',
        toolConcurrency: 2,
        model: roundModel([
          { toolCalls: Array.from({ length: 7 }, () => ({ name: 'work', args: {} })) },
          { text: 'done' },
        ]),
        tools: [
          tool({
            name: 'work',
            description: 'Works',
            schema: none,
            execute: async () => 'nothing new',
          }),
        ],
      }),
    act: (stage) => run(stage),
    has: decided('block'),
  },
  'a handler of errors that ends the run': {
    define: () =>
      agent({
        name: 'worker',
        model: roundModel([callOf('fail'), { text: 'never' }]),
        tools: [
          tool({
            name: 'fail',
            description: 'Fails',
            schema: none,
            recovery: 'rerun',
            execute: () => {
              throw new ToolFailure('broken', { errorType: 'broken' });
            },
          }),
        ],
        errorHandlers: [{ name: 'strict', handle: () => ({ action: 'abort' }) }],
      }),
    act: (stage) => run(stage),
    has: decided('abort'),
  },
  'what comes after a run, cancelled': {
    define: () => agent({ name: 'guest', model: roundModel([{ text: 'hello' }]) }),
    options: {
      lifecycle: {
        postProcess: (ctx) =>
          new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(undefined))),
      },
    },
    act: async ({ app, root }) => {
      const running = app.run(root, { session: 's', input: 'Go', runId: 'run' });
      const { session } = await running;
      await eventually(
        () =>
          session.events.some(
            (event) => event.type === 'invocation_start' && event.name === '~postProcess',
          ),
        {
          what: 'the follow-up',
        },
      );
      await app.cancel('s');
      await running.settled();
      return session;
    },
    has: ofType('cancel'),
  },
  'a child that a tool detached': {
    define: () => {
      const child = step({ name: 'child', execute: (ctx) => ctx.complete('child') });
      const send = tool({
        name: 'send',
        description: 'Sends',
        schema: none,
        recovery: 'report',
        execute: (ctx) => {
          ctx.spawn(child, { message: 'go' }).detach();
          return 'sent';
        },
      });
      return agent({
        name: 'sender',
        model: roundModel([callOf('send'), { text: 'sent' }]),
        tools: [send],
      });
    },
    options: { runnables: [step({ name: 'child', execute: (ctx) => ctx.complete('child') })] },
    act: async ({ app, root }) => {
      const running = app.run(root, { session: 's', input: 'Go', runId: 'run' });
      const { session } = await running;
      await running.settled();
      return session;
    },
    has: decided('detach'),
  },
};

/** What an app is made of, as each process has it. */
function stageOf({ define, options = {} }: Feature, clock: TestClock): Stage {
  const { hang, rest, begun, letGo, letRest } = hanging();
  const root = define({ hang, rest });
  const app = runtime({
    app: 'features',
    recover: 'manual',
    store: memoryStore({ clock }),
    ports: { clock },
    ...options,
    runnables: [root, ...(options.runnables ?? [])],
  });
  return { app, root, clock, begun, letGo, letRest };
}

test.each(Object.entries(features))('does what it did: %s', async (_name, feature) => {
  const stage = stageOf(feature, testClock());
  const session = await feature.act(stage);
  expect(session.events.some(feature.has)).toBe(true);
  const record = recordedLedgerOf(session);
  expect(await problemOf(record, stageOf(feature, testClock()).app)).toBeUndefined();
  await stage.app.close();
});

test.each(storePlaces)(
  'a session that is stored in %s is replayed, and left as it is',
  async (_name, open) => {
    const place = await open();
    const store = place.open();
    const define = () =>
      agent({
        name: 'payer',
        model: roundModel([callOf('pay'), { text: 'p'.repeat(70_000) }]),
        tools: [pay({ expiresInMs: 24 * hours })],
      });
    const root = define();
    const first = runtime({ app: 'stored', store, recover: 'manual', runnables: [root] });
    const { session, pendingCalls } = await first.run(root, { session: 's', input: 'Go' });
    await first.requests.answer(pendingCalls[0]?.requestId ?? '', { decision: 'approve' });
    const app = runtime({ app: 'stored', store, recover: 'manual', runnables: [define()] });
    const { session: ended } = await app.resume(session.id);
    const other = runtime({ app: 'stored', store, recover: 'manual', runnables: [define()] });
    const opened = await other.sessions.open({ id: 's' });
    const before = JSON.stringify(opened.events);
    expect(opened.events).toEqual(ended.events);
    expect(await problemOf(recordedLedgerOf(opened), other)).toBeUndefined();
    expect(JSON.stringify((await other.sessions.open({ id: 's' })).events)).toBe(before);
    expect((await other.requests.list()).map(({ status }) => status)).toEqual(['answered']);
    await other.close();
    await place.remove();
  },
);
