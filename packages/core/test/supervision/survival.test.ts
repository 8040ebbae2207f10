import {
  type Agent,
  agent,
  type Event,
  type EventDraft,
  isAdjutantError,
  memoryStore,
  type RunResult,
  runtime,
  type Session,
  type Store,
} from 'adjutant';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countedTool, forbidden } from '../counted-tool.ts';
import { type StorePlace, storePlaces } from '../store-places.ts';

const gives = 'I could not read the page.';
const want = { name: 'fetch_page', args: { url: 'https://page.example' } };

/** A page that answers 403 every time, and an agent that wants it as long as it may call tools. */
function blockedPage(): { readonly reader: () => Agent; readonly entered: readonly unknown[] } {
  const page = countedTool('fetch_page', forbidden);
  const model = () =>
    scriptedModel((_prompt, _call, { toolChoice }) =>
      toolChoice?.type === 'none' ? { text: gives } : { toolCalls: [want] },
    );
  return {
    reader: () => agent({ name: 'reader', model: model(), tools: [page.tool] }),
    entered: page.entered,
  };
}

const settledResults = (events: readonly Event[]) =>
  events.filter((event) => event.type === 'tool_result').filter(({ settled }) => settled);

const newProcess = (store: Store, reader: Agent) =>
  runtime({ app: 'loops', store, runnables: [reader], recover: 'manual' });

/** Runs an agent until its second result is there, then stops the process. */
async function stopAfterTwo(store: Store, reader: Agent): Promise<void> {
  const app = newProcess(store, reader);
  const session = await app.sessions.open({ id: 's' });
  const running = app.run(reader, { session, runId: 'run', input: 'Summarise the page' });
  const forget = session.ledger.onDraft(() => {
    if (settledResults(session.events).length === 2) running.stop();
  });
  await expect(running).rejects.toSatisfy((error) => isAdjutantError(error, 'run_stopped'));
  forget();
  await running.settled();
  await app.close();
}

async function withPlace<Result>(
  make: () => Promise<StorePlace>,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const place = await make();
  const store = place.open();
  try {
    return await work(keptOpen(store));
  } finally {
    await store.close();
    await place.remove();
  }
}

function expectLoop(result: RunResult, entered: readonly unknown[], times: number): void {
  expect(entered).toHaveLength(times);
  expect(result).toMatchObject({ status: 'completed', stopReason: 'loop', output: gives });
}

describe.each(storePlaces)('what was tried before is known (%s)', (_name, make) => {
  test('after a restart', async () => {
    await withPlace(make, async (store) => {
      const { reader, entered } = blockedPage();
      await stopAfterTwo(store, reader());
      const app = newProcess(store, reader());
      expectLoop(await app.resume('s'), entered, 2);
      await app.close();
    });
  });

  test('in a fork', async () => {
    await withPlace(make, async (store) => {
      const { reader, entered } = blockedPage();
      await stopAfterTwo(store, reader());
      const app = newProcess(store, reader());
      const fork = await app.sessions.fork('s');
      expectLoop(await app.resume(fork), entered, 2);
      await app.close();
    });
  });

  test('after a compaction that covers it', async () => {
    await withPlace(make, async (store) => {
      const { reader, entered } = blockedPage();
      await stopAfterTwo(store, reader());
      const app = newProcess(store, reader());
      const session = await app.sessions.open({ id: 's' });
      session.append([compactionOf(session)]);
      await session.flush();
      const result = await app.resume(session);
      expectLoop(result, entered, 2);
      await app.close();
    });
  });

  test('in the next run of the session, in another process', async () => {
    await withPlace(make, async (store) => {
      const { reader, entered } = blockedPage();
      const first = newProcess(store, reader());
      expectLoop(
        await first.run(reader(), { session: 's', input: 'Summarise the page' }),
        entered,
        2,
      );
      await first.close();
      const app = newProcess(store, reader());
      expectLoop(await app.run(reader(), { session: 's', input: 'Again, please' }), entered, 3);
      await app.close();
    });
  });
});

describe('wherever it is cut', () => {
  test('a restart lets no more calls through', async () => {
    const { length } = (await finished()).session.events;
    for (let stopAt = 2; stopAt < length; stopAt++) {
      const store = keptOpen(memoryStore());
      const { reader, entered } = blockedPage();
      const first = newProcess(store, reader());
      const session = await first.sessions.open({ id: 's' });
      const running = first.run(reader(), { session, runId: 'run', input: 'Summarise the page' });
      const forget = session.ledger.onDraft(({ seq }) => {
        if (seq >= stopAt) running.stop();
      });
      const isStopped = await running.then(
        () => false,
        (error) => isAdjutantError(error, 'run_stopped'),
      );
      forget();
      await running.settled();
      await first.close();
      if (!isStopped) continue;
      const app = newProcess(store, reader());
      const result = await app.resume('s');
      // An attempt that was cut off says nothing about the page, so it may be made once more.
      const cutOff = settledResults(result.session.events).filter(
        ({ result: { status } }) => status === 'unknown',
      ).length;
      expect(entered.length, `stopped at ${stopAt}`).toBeLessThanOrEqual(2 + cutOff);
      expect(result, `stopped at ${stopAt}`).toMatchObject({
        status: 'completed',
        stopReason: 'loop',
      });
      await app.close();
    }
  });

  test('a fork lets no more calls through than the run before it had left', async () => {
    const { session, app, entered } = await finished();
    const last = session.events.findIndex(({ type }) => type === 'invocation_end');
    const first = session.events.findIndex(({ type }) => type === 'model_start');
    expect(last - first).toBeGreaterThan(10);
    for (let at = first + 1; at <= last; at++) {
      const before = entered.length;
      const fork = await app.sessions.fork('s', { at });
      const attempts = fork.events.filter(({ type }) => type === 'tool_attempt').length;
      const result = await app.resume(fork);
      const cutOff = settledResults(result.session.events).filter(
        ({ result: { status } }) => status === 'unknown',
      ).length;
      expect(attempts + entered.length - before, `forked at ${at}`).toBeLessThanOrEqual(2 + cutOff);
      expect(result, `forked at ${at}`).toMatchObject({ status: 'completed', stopReason: 'loop' });
    }
    await app.close();
  });
});

async function finished() {
  const { reader, entered } = blockedPage();
  const app = newProcess(keptOpen(memoryStore()), reader());
  const { session } = await app.run(reader(), {
    session: 's',
    runId: 'run',
    input: 'Summarise the page',
  });
  return { session, app, entered };
}

/** Answers of a page, one for each request. */
const behaviours = {
  same: () => 'nothing new',
  changing: (times: number) => ({ percent: times }),
  byTurns: (times: number) => (times % 3 === 0 ? 'open' : 'closed'),
  forbidden,
} as const;
const anyScript = fc.record({
  behaviours: fc.tuple(
    ...[0, 1, 2].map(() =>
      fc.constantFrom(...(Object.keys(behaviours) as (keyof typeof behaviours)[])),
    ),
  ),
  pages: fc.array(fc.nat(2), { minLength: 8, maxLength: 24 }),
  stopAfter: fc.nat(12),
});

/**
 * Plays a script; with `stopAfter` the process stops after so many results, and another one goes
 * on.
 */
async function play(
  { behaviours: kinds, pages }: { behaviours: (keyof typeof behaviours)[]; pages: number[] },
  stopAfter: number | undefined,
) {
  const times = [0, 0, 0];
  const page = countedTool('page', (args) => {
    const { number } = args as { number: number };
    return behaviours[kinds[number] as keyof typeof behaviours](++(times[number] as number));
  });
  const made = () => {
    const model = scriptedModel((prompt, _call, { toolChoice }) => {
      const number = pages[prompt.filter(({ role }) => role === 'tool').length];
      if (number === undefined || toolChoice?.type === 'none') return { text: 'done' };
      return { toolCalls: [{ name: 'page', args: { number } }] };
    });
    return agent({ name: 'reader', model, tools: [page.tool], limits: { rounds: 30 } });
  };
  const store = keptOpen(memoryStore());
  const reader = made();
  const first = newProcess(store, reader);
  const session = await first.sessions.open({ id: 's' });
  const running = first.run(reader, { session, runId: 'run', input: 'Go' });
  const forget = session.ledger.onDraft(() => {
    if (settledResults(session.events).length === stopAfter) running.stop();
  });
  const ended = await running.then(
    (result) => result,
    () => undefined,
  );
  forget();
  await running.settled();
  await first.close();
  const result = ended ?? (await newProcess(store, made()).resume('s'));
  return {
    entered: page.entered,
    decisions: explain(result.session.events, { components: ['loop_detector'] }).map(
      ({ why }) => why,
    ),
    stopReason: result.stopReason,
  };
}

test(
  'a stop between rounds changes nothing about what is let through, whatever ' + 'is called',
  async () => {
    let [blocked, stopped] = [0, 0];
    await fc.assert(
      fc.asyncProperty(anyScript, async (script) => {
        const whole = await play(script, undefined);
        expect(await play(script, script.stopAfter + 1)).toEqual(whole);
        if (whole.stopReason === 'loop') stopped++;
        if (whole.decisions.some((reasoning) => /not made any more|no step left/.test(reasoning)))
          blocked++;
      }),
      { numRuns: 40 },
    );
    // Otherwise nothing was tested.
    expect(blocked).toBeGreaterThan(5);
    expect(stopped).toBeGreaterThan(0);
  },
);

test('what was tried is known when the prompt no longer holds it', async () => {
  const page = countedTool('fetch_page', forbidden);
  const read = countedTool('read', () => 'A long line of a book. '.repeat(200), {
    recovery: 'rerun',
  });
  const model = scriptedModel(
    (_prompt, round, { toolChoice }) => {
      if (toolChoice?.type === 'none') return { text: gives };
      return {
        toolCalls: [round < 2 || round > 12 ? want : { name: 'read', args: { chapter: round } }],
      };
    },
    { contextWindow: 8_000 },
  );
  const made = agent({
    name: 'reader',
    model,
    tools: [page.tool, read.tool],
    compaction: { keep: 4 },
  });
  const result = await runtime({ app: 'loops' }).run(made, { input: 'Summarise the page' });
  const covered = new Set(
    result.session.events.flatMap((event) => (event.type === 'compaction' ? event.covers : [])),
  );
  const early = result.session.events
    .filter((event) => event.type === 'tool_result' && event.name === 'fetch_page')
    .slice(0, 2);
  expect(early.every(({ id }) => covered.has(id))).toBe(true);
  expect(JSON.stringify(model.calls[13]?.prompt)).not.toContain('403');
  expect(read.entered).toHaveLength(11);
  expectLoop(result, page.entered, 2);
});

/** A compaction that leaves nothing of the rounds so far in the prompt. */
function compactionOf({ events }: Session): EventDraft {
  const covers = events
    .filter(({ type }) => type === 'tool_call' || type === 'tool_result')
    .map(({ id }) => id);
  return {
    type: 'compaction',
    by: 'runtime',
    invocationId: 'run',
    strategy: 'summary',
    reason: 'window',
    covers,
    overlap: 0,
    summary: 'The page was asked for.',
    tokensBefore: 100,
    tokensAfter: 10,
  };
}
