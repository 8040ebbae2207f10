import { agent, type Event, isAdjutantError, openai, step, tool } from 'adjutant';
import {
  advanceTime,
  approve,
  crash,
  expectPrompt,
  meanwhile,
  model,
  runTest,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const publish = tool({
  name: 'publish',
  description: 'Publishes',
  schema: z.object({}),
  approval: true,
  execute: () => 'published',
});
const report = agent({ name: 'report', model: openai('gpt-5'), tools: [publish] });
const nap = step({
  name: 'nap',
  execute: async (ctx) => {
    await ctx.sleep('long', 3_600_000);
    return ctx.complete('awake');
  },
});
const asked = model({ toolCalls: [{ name: 'publish', args: {} }] });

const runsOf = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_start' && event.mode === 'root' ? [[event.name, event.lane]] : [],
  );

describe('the lane of a test', () => {
  test('has its runs and messages, and goes on there after answers and crashes', async () => {
    const { events, output, results } = await runTest(
      report,
      [
        user('Report'),
        crash(),
        user('Quickly'),
        asked,
        crash(),
        approve(),
        expectPrompt((prompt) => expect(JSON.stringify(prompt)).toContain('Quickly')),
        model('It is out.'),
        user('Again'),
        model('It is out already.'),
      ],
      { lane: 'background' },
    );
    expect(results).toHaveLength(2);
    expect(output).toBe('It is out already.');
    expect(runsOf(events)).toEqual([
      ['report', 'background'],
      ['report', 'background'],
    ]);
  });

  test('is the only one that the steps are about: another one waits on', async () => {
    const { output, events, app, session } = await runTest(
      nap,
      [
        meanwhile(async ({ app, session, pending }) => {
          const asking = step({
            name: 'asking',
            execute: async (ctx) => ctx.complete(await ctx.ask('more', 'Go on?')),
          });
          expect(await app.run(asking, { session })).toMatchObject({ status: 'yielded' });
          expect(pending).toEqual([]);
        }),
        user('Sleep'),
        meanwhile(({ pending, result }) => {
          expect(pending).toEqual([]);
          expect(result?.status).toBe('yielded');
        }),
        advanceTime(3_600_000),
      ],
      { lane: 'night' },
    );
    expect(output).toBe('awake');
    expect(runsOf(events)).toEqual([
      ['asking', undefined],
      ['nap', 'night'],
    ]);
    expect(await app.requests.list({ session: session.id })).toMatchObject([{ name: 'more' }]);
  });

  test.each<[string, unknown, string]>([
    ['no string', 7, 'a name of 1 to 64 letters, digits, _ and -'],
    ['with a slash', 'a/b', 'a name of 1 to 64 letters'],
    ['reserved', 'default', 'a name other than "default"'],
  ])('is refused: %s', async (_what, lane, why) => {
    const refusal: unknown = await runTest(nap, [], { lane: lane as string }).catch(
      (error: unknown) => error,
    );
    expect(isAdjutantError(refusal, 'invalid_test')).toBe(true);
    expect(String(refusal)).toContain(why);
  });
});
