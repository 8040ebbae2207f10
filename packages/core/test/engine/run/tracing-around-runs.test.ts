import {
  agent,
  type Event,
  loop,
  type Middleware,
  type Operation,
  parallel,
  runtime,
  step,
  tool,
} from 'adjutant';
import { replay } from 'adjutant/replay';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { storePlaces } from '../../store-places.ts';

function nameOf(operation: Operation): string {
  switch (operation.type) {
    case 'run':
      return `run ${operation.name}`;
    case 'invocation':
      return `${operation.kind} ${operation.name}`;
    case 'model':
      return (
        `model ${operation.provider}:${operation.modelId} ` +
        `${operation.round}.${operation.attempt}`
      );
    case 'tool':
      return `tool ${operation.name} ${JSON.stringify(operation.args)}`;
  }
}

/** Middleware that writes down what begins and what is over. */
function watching(told: string[], prefix = ''): Middleware {
  return {
    name: `watching ${prefix}`,
    around: (operation, work) => {
      told.push(`${prefix}> ${nameOf(operation)}`);
      const result = work();
      if (result instanceof Promise)
        result.finally(() => told.push(`${prefix}< ${nameOf(operation)}`)).catch(() => undefined);
      return result;
    },
  };
}

const echo = tool({
  name: 'echo',
  description: 'Says it again',
  schema: { type: 'object' },
  readOnly: true,
  execute: ({ args }) => args,
});
const echoing = () =>
  agent({
    name: 'echoing',
    model: scriptedModel([{ toolCalls: [{ name: 'echo', args: { a: 1 } }] }, { text: 'done' }]),
    tools: [echo],
  });

describe('around', () => {
  test('lies around runs, invocations, requests to models and executions of tools', async () => {
    const told: string[] = [];
    const app = runtime({ app: 'test', middleware: [watching(told)] });
    expect((await app.run(echoing(), 'Go')).output).toBe('done');
    const begun = [
      'run echoing',
      'agent echoing',
      'model scripted:scripted 1.1',
      'tool echo {"a":1}',
      'model scripted:scripted 2.1',
    ];
    expect(told.filter((line) => line.startsWith('>'))).toEqual(begun.map((name) => `> ${name}`));
    expect(told.slice(-2)).toEqual(['< agent echoing', '< run echoing']);
    expect(told).toHaveLength(10);
  });

  test('the first middleware lies outside', async () => {
    const told: string[] = [];
    const app = runtime({
      app: 'test',
      middleware: [watching(told, 'outer '), { name: 'deaf' }, watching(told, 'inner ')],
    });
    await app.run(step({ name: 'one', execute: () => undefined }), 'Go');
    expect(told).toEqual([
      'outer > run one',
      'inner > run one',
      'outer > step one',
      'inner > step one',
      ...['inner < step one', 'outer < step one', 'inner < run one', 'outer < run one'],
    ]);
  });

  test('can be added to an app that exists, outside all middleware, and ended for later runs', async () => {
    const told: string[] = [];
    const app = runtime({ app: 'test', middleware: [watching(told, 'inner ')] });
    const { around } = watching(told, 'outer ');
    const end = app.streams.observe(around as NonNullable<typeof around>);
    const endAgain = app.streams.observe(around as NonNullable<typeof around>);
    endAgain();
    const one = step({ name: 'one', execute: () => undefined });
    await app.tenants.get('other').run(one, 'Go');
    expect(told.slice(0, 4)).toEqual([
      'outer > run one',
      'inner > run one',
      'outer > step one',
      'inner > step one',
    ]);
    end();
    end();
    await app.run(one, 'Go');
    expect(told.filter((line) => line.startsWith('outer >'))).toHaveLength(2);
    expect(() => app.streams.observe({} as never)).toThrow(
      /app\.streams\.observe\(\) cannot be set up/,
    );
  });

  test('all branches and turns are invocations, and all are of the same run', async () => {
    const runs = new Set<unknown>();
    const paths: string[] = [];
    const around: Middleware['around'] = (operation, work) => {
      runs.add(operation.type === 'run' ? operation : operation.run);
      if (operation.type === 'invocation') paths.push(operation.invocationId);
      return work();
    };
    const app = runtime({ app: 'test', middleware: [{ name: 'around', around }] });
    const one = step({ name: 'one', execute: () => undefined });
    const again = loop({
      name: 'again',
      runnable: step({ name: 'two', execute: () => undefined }),
      maxIterations: 2,
    });
    await app.run(parallel({ name: 'both', runnables: [one, again] }), { input: 'Go', runId: 'r' });
    expect(runs.size).toBe(1);
    expect(paths.toSorted()).toEqual(['r', 'r/again', 'r/again/#1', 'r/again/#2', 'r/one']);
  });

  test('events are heard as they are appended, with what lies around them', async () => {
    const told: string[] = [];
    const heard = (event: Event): void => void told.push(event.type);
    const around: Middleware['around'] = (operation, work) => {
      if (operation.type === 'run') operation.listen(heard);
      else told.push(operation.type);
      return work();
    };
    const app = runtime({ app: 'test', middleware: [{ name: 'around', around }] });
    const session = await app.sessions.open();
    await app.run(echoing(), { input: 'Go', session });
    expect(told.filter((type) => type !== 'decision')).toEqual([
      ...['user', 'invocation_start', 'invocation'],
      ...['model_start', 'model', 'tool_call', 'model_end'],
      ...['tool_attempt', 'tool', 'tool_result'],
      ...['model_start', 'model', 'assistant', 'model_end'],
      'invocation_end',
    ]);
    const before = told.length;
    session.state['later'] = true;
    await session.flush();
    expect(told).toHaveLength(before);
  });

  test('what it throws is a failure of that work', async () => {
    const around: Middleware['around'] = (operation, work) => {
      if (operation.type === 'tool') throw new Error('No tools today.');
      return work();
    };
    const app = runtime({ app: 'test', middleware: [{ name: 'around', around }] });
    const { status, error } = await app.run(echoing(), 'Go');
    expect([status, error?.message]).toEqual(['error', 'No tools today.']);
  });

  test.each(storePlaces)(
    'the trace that it keeps is found by whoever goes on: %s',
    async (_name, make) => {
      const kept = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const before: unknown[] = [];
      const around: Middleware['around'] = (operation, work) => {
        if (operation.type === 'run') {
          before.push(operation.traceBefore);
          if (!operation.continued) operation.keepTrace(kept);
        }
        return work();
      };
      const place = await make();
      const store = place.open();
      const ask = tool({
        name: 'ask',
        description: 'Asks',
        schema: { type: 'object' },
        yieldSchema: { type: 'object' },
      });
      const asker = agent({
        name: 'asker',
        model: scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'done' }]),
        tools: [ask],
      });
      const open = () =>
        runtime({
          app: 'test',
          store: keptOpen(store),
          recover: 'manual',
          runnables: [asker],
          middleware: [{ name: 'around', around }],
        });
      const first = open();
      const { pendingCalls } = await first.run(asker, { input: 'Go', session: 's' });
      await first.close();
      const second = open();
      const session = await second.sessions.open({ id: 's' });
      session.addToolInput(pendingCalls[0]?.callId ?? '', {});
      expect((await second.resume(session)).output).toBe('done');
      expect(before).toEqual([undefined, kept]);
      expect(
        session.events.flatMap((event) => (event.type === 'invocation_start' ? event.trace : [])),
      ).toEqual([kept]);
      await second.close();
      await store.close();
      await place.remove();
    },
  );

  test('replays are not surrounded, and do not miss what was kept', async () => {
    const told: string[] = [];
    const around: Middleware['around'] = (operation, work) => {
      told.push(operation.type);
      if (operation.type === 'run')
        operation.keepTrace('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
      return work();
    };
    const runnable = echoing();
    const app = runtime({
      app: 'test',
      runnables: [runnable],
      middleware: [{ name: 'around', around }],
    });
    const { session } = await app.run(runnable, 'Go');
    const before = told.length;
    expect((await replay(session, app)).divergence).toBeUndefined();
    expect(told).toHaveLength(before);
  });

  test('it makes no hooks of agents: their decisions are those without it', async () => {
    const plain = await runtime({ app: 'test' }).run(echoing(), 'Go');
    const surrounded = await runtime({ app: 'test', middleware: [watching([])] }).run(
      echoing(),
      'Go',
    );
    expect(surrounded.session.events.map(({ type }) => type)).toEqual(
      plain.session.events.map(({ type }) => type),
    );
  });
});
