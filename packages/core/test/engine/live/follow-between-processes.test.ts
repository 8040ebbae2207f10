import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, type Runtime, runtime, type StreamEvent } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { sqlite } from 'adjutant/sqlite';
import { eventually, scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { pubSub } from '../../pub-sub.ts';

/** A clock whose timers fire one by one, when the test says so. */
function steppedClock() {
  const waiting: (() => void)[] = [];
  return {
    ...systemClock,
    setTimer: (_ms: number, task: () => void) => {
      waiting.push(task);
      return () => void waiting.splice(waiting.indexOf(task), 1);
    },
    step: async () => {
      await eventually(() => waiting.length > 0, { what: 'the next part' });
      waiting.shift()?.();
    },
  };
}

/** Parts of answers as one who follows is given them, until the test ends. */
function partsOf(app: Runtime): string[] {
  const parts: string[] = [];
  const over = new AbortController();
  const reading = (async () => {
    for await (const event of app.follow('s', { signal: over.signal }))
      if (isPart(event)) parts.push(event.delta);
  })();
  reading.catch(() => undefined);
  onTestFinished(async () => {
    over.abort();
    await reading.catch(() => undefined);
  });
  return parts;
}

const isPart = (event: StreamEvent): event is Extract<StreamEvent, { type: 'assistant_delta' }> =>
  event.type === 'assistant_delta';

function twoProcesses() {
  const path = join(mkdtempSync(join(tmpdir(), 'held-')), 'app.db');
  const clock = steppedClock();
  const [here, there] = [0, 1].map(() => {
    const model = scriptedModel(
      () => ({ chunks: ['Once ', 'upon ', 'a ', 'time'], chunkDelayMs: 1 }),
      { clock },
    );
    const writer = agent({ name: 'writer', model });
    return {
      writer,
      app: runtime({
        app: 'tales',
        runnables: [writer],
        store: sqlite(path),
        recover: 'manual',
        pubsub,
      }),
    };
  });
  return {
    clock,
    here: here as NonNullable<typeof here>,
    there: there as NonNullable<typeof there>,
  };
}

const pubsub = pubSub();

test(
  'a process that was asked to run a session that another one holds still hands on what that ' +
    'one writes',
  async () => {
    const { clock, here, there } = twoProcesses();
    await here.app.sessions.create({ id: 's' });
    const parts = partsOf(there.app);
    const run = here.app.run(here.writer, { session: 's', input: 'Tell' });
    await eventually(() => parts.join('') === 'Once ', { what: 'the first part' });
    const joined = there.app.run(there.writer, { session: 's', input: 'And go on' });
    await joined.accepted();
    await clock.step();
    await eventually(() => parts.join('') === 'Once upon ', { what: 'the second part' });
    for (const one of [joined, run]) one.stop();
    await Promise.allSettled([run, joined]);
    await Promise.all([here.app.close(), there.app.close()]);
  },
);

test('a run that had to wait for another process is streamed once', async () => {
  const { clock, here, there } = twoProcesses();
  await here.app.sessions.create({ id: 's' });
  const first = here.app.run(here.writer, { session: 's', input: 'Tell', runId: 'first' });
  const seen: StreamEvent[] = [];
  first.listen((event) => seen.push(event));
  await eventually(() => seen.some(isPart));
  const second = there.app.run(there.writer, { session: 's', input: 'Tell more', runId: 'second' });
  await second.accepted();
  first.stop();
  await first.catch(() => undefined);
  const parts = partsOf(there.app);
  await eventually(() => parts.length > 0);
  await clock.step();
  await eventually(() => parts.join('').includes('upon'));
  expect(parts.join('')).toBe('Once upon ');
  second.cancel();
  await second;
  await Promise.all([here.app.close(), there.app.close()]);
});
