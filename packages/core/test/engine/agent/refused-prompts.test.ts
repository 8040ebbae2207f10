import { agent, memoryStore, runtime, tool } from 'adjutant';
import { scriptedModel, tickingClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compactions, decisions, expectExact, jsonOf, readPages } from './compacted-pages.ts';

describe('a provider that refuses the prompt', () => {
  test(
    'of a model whose window is not known: what is old is left out, and the ' + 'answer comes',
    async () => {
      const { session, status, scripted } = await readPages(3_000, 30, {}, false);
      expect(status).toBe('completed');
      expect(scripted.refused).toBeGreaterThan(0);
      expect(compactions(session)[0]).toMatchObject({ reason: 'overflow', strategy: 'trim' });
      // A refused prompt is not tried again and again.
      expect(scripted.refused).toBeLessThan(5);
      expectExact(session, [scripted]);
    },
  );

  test('also with the guards off', async () => {
    const { session, status } = await readPages(3_000, 30, { compaction: false }, false);
    expect(status).toBe('completed');
    expect(compactions(session).every(({ reason }) => reason === 'overflow')).toBe(true);
  });

  test(
    'for the results of one round alone: they are shortened, without a step that changes ' +
      'nothing before it',
    async () => {
      const big = tool({
        name: 'big',
        description: 'Much',
        schema: z.object({}),
        recovery: 'rerun',
        execute: () => 'word '.repeat(4_000),
      });
      const scripted = scriptedModel(
        (_prompt, answered) =>
          answered === 0
            ? { toolCalls: [{ name: 'big' }, { name: 'big', args: {} }] }
            : { text: 'done' },
        { contextWindow: 5_000, isWindowKnown: false },
      );
      const { session, output } = await runtime({ app: 'library' }).run(
        agent({ name: 'reader', model: scripted, tools: [big] }),
        'Go',
      );
      expect(output).toBe('done');
      expect(
        compactions(session).map(({ strategy, resultLimit, covers }) => [
          strategy,
          resultLimit,
          covers.length,
        ]),
      ).toEqual([['shorten', 2_000, 0]]);
      expect(scripted.refused).toBe(1);
      expect(jsonOf(scripted.calls.at(-1)?.prompt)).toContain('[...truncated]');
      expectExact(session, [scripted]);
    },
  );

  test(
    'with nothing to leave out: a later model with a larger window is asked, also by another ' +
      'process',
    async () => {
      const make = () => {
        const small = scriptedModel(() => ({ text: 'never' }), {
          modelId: 'small',
          contextWindow: 1_000,
        });
        const large = scriptedModel(() => ({ text: 'done' }), {
          modelId: 'large',
          contextWindow: 20_000,
        });
        return { small, large, reader: agent({ name: 'reader', model: [small, large] }) };
      };
      const { small, large, reader } = make();
      const { session, output } = await runtime({
        app: 'library',
        ports: { clock: tickingClock() },
      }).run(reader, 'long '.repeat(2_000));
      expect(output).toBe('done');
      expect([small.calls.length, large.calls.length]).toEqual([1, 1]);
      expectExact(session, [small, large]);
      const cut =
        session.events.findIndex(
          (event) => event.type === 'decision' && event.decision === 'fallback',
        ) + 1;
      expect(cut).toBeGreaterThan(0);
      const again = make();
      const app = runtime({ app: 'library', store: memoryStore(), runnables: [again.reader] });
      const restored = await app.sessions.restore({
        ...session.toJSON(),
        events: session.events.slice(0, cut),
      });
      expect((await app.resume(restored))?.output).toBe('done');
      expect([again.small.calls.length, again.large.calls.length]).toEqual([0, 1]);
    },
  );

  test('with nothing to leave out: the agent fails at once and says what to do', async () => {
    const scripted = scriptedModel(() => ({ text: 'never' }), {
      contextWindow: 1_000,
      isWindowKnown: false,
    });
    const { status, error, session } = await runtime({ app: 'library' }).run(
      agent({ name: 'reader', model: scripted }),
      'long '.repeat(2_000),
    );
    expect([status, scripted.refused]).toEqual(['error', 1]);
    expect(error).toMatchObject({
      code: 'model_context_overflow',
      message: expect.stringContaining('use a model with a larger window'),
    });
    expect(decisions(session).map(({ decision }) => decision)).toEqual(['give_up']);
    expect(compactions(session)).toEqual([]);
  });
});
