import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { agent, memoryStore, runtime, tool } from 'adjutant';
import { allowRealModels, scriptedModel, testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { hostileValues } from './hostile-values.ts';
import { seed } from './seed.ts';
import { watchProcess } from './unhandled.ts';

// The models are a part of the test.
allowRealModels();

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** A whole answer. */
const answer: readonly object[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id: 'r', modelId: 'm', timestamp: new Date(0) },
  { type: 'reasoning-start', id: '1' },
  { type: 'reasoning-delta', id: '1', delta: 'Hm.' },
  { type: 'reasoning-end', id: '1' },
  { type: 'text-start', id: '2' },
  { type: 'text-delta', id: '2', delta: 'Hello' },
  { type: 'text-end', id: '2' },
  { type: 'tool-input-start', id: 'c', toolName: 'look' },
  { type: 'tool-input-delta', id: 'c', delta: '{"at":1}' },
  { type: 'tool-input-end', id: 'c' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{"at":1}' },
  { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
];

type Way = 'value' | 'part' | 'gone' | 'twice' | 'first' | 'error' | 'throw' | 'member';

interface Damage {
  readonly way: Way;
  readonly place: number;
  readonly key: number;
  readonly make: () => unknown;
}

const damage: fc.Arbitrary<Damage> = fc.record({
  way: fc.constantFrom<Way>(
    'value',
    'value',
    'value',
    'part',
    'gone',
    'twice',
    'first',
    'error',
    'throw',
    'member',
  ),
  place: fc.nat({ max: answer.length - 1 }),
  key: fc.nat(),
  make: hostileValues,
});

/** The answer with these faults in it; `undefined` parts are left out. */
function damaged(damages: readonly Damage[]): unknown[] {
  const parts: unknown[] = answer.map((part) => ({ ...part }));
  for (const { way, place, key, make } of damages) {
    const part = parts[place];
    const names =
      typeof part === 'object' && part !== null && !(way === 'member')
        ? Object.keys(answer[place] as object)
        : ['extra'];
    if (way === 'value' || way === 'member')
      parts[place] = {
        ...(answer[place] as object),
        [names[key % names.length] as string]: make(),
      };
    if (way === 'part') parts[place] = make();
    if (way === 'gone') parts.splice(place, 1);
    if (way === 'twice') parts.splice(place, 0, answer[place]);
    if (way === 'first') parts.unshift(...parts.splice(place, 1));
    if (way === 'error') parts[place] = { type: 'error', error: make() };
  }
  return parts;
}

function modelOf(damages: readonly Damage[]): LanguageModelV4 {
  let calls = 0;
  const doStream = async () => {
    const parts =
      calls++ === 0
        ? damaged(damages)
        : damaged([]).filter(
            (part) => !String((part as { type?: unknown }).type).startsWith('tool-'),
          );
    const last = damages.find(({ way }) => way === 'throw');
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start(controller) {
        for (const part of parts) controller.enqueue(part as LanguageModelV4StreamPart);
        if (calls === 1 && last !== undefined) controller.error(last.make());
        else controller.close();
      },
    });
    return { stream };
  };
  return {
    specificationVersion: 'v4',
    provider: 'odd',
    modelId: 'odd',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('no')),
    doStream,
  };
}

test(
  'whatever a model streams, its run comes to an end, and the next one is ' + 'carried out',
  async () => {
    const checkProcess = watchProcess();
    // Waits between attempts are over at once.
    const clock = testClock();
    const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual', ports: { clock } });
    onTestFinished(() => app.close());
    const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Here.' })) });
    let count = 0;
    const look = tool({
      name: 'look',
      description: 'Looks',
      schema: z.object({ at: z.number() }),
      execute: () => 'seen',
    });
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
        const odd = agent({ name: `odd-${++count}`, model: modelOf(damages), tools: [look] });
        let isOver = false;
        const run = app.run(odd, { input: 'Go' });
        const ended = run.then(
          () => (isOver = true),
          () => (isOver = true),
        );
        while (!isOver) {
          clock.advance(1_000);
          await new Promise((resolve) => setImmediate(resolve));
        }
        await ended;
        const { status, session } = await run;
        expect(['completed', 'error', 'yielded']).toContain(status);
        for await (const event of app.sessions.events(session.id))
          expect(event.type).not.toBe('unreadable');
        expect((await app.run(clerk, { input: 'Go' })).output).toBe('Here.');
      }),
      { seed, numRuns: 150 },
    );
    await checkProcess();
  },
);
