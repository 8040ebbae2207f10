import { joined, type ModelSuite, typesOf } from './harness.ts';
import { checkStream } from './stream-rules.ts';

export function answerContract(suite: ModelSuite): void {
  const { describe, expect, test } = suite;
  describe('an answer', () => {
    test('has a provider and a model name that stay the same', async ({ model, call }) => {
      expect(model.specificationVersion).toBe('v4');
      const names = [model.provider, model.modelId];
      expect(names.every((name) => typeof name === 'string' && name !== '')).toBe(true);
      await call();
      expect([model.provider, model.modelId]).toEqual(names);
    });

    test(
      'streams the text in order, between a start and an end, with one finish ' + 'behind it',
      async ({ call, respond }) => {
        await respond({ text: ['It ', 'rains', ' 👋.'] });
        const answer = await call();
        expect(answer.error).toBeUndefined();
        checkStream(answer);
        expect(joined(answer, 'text-delta')).toBe('It rains 👋.');
      },
    );

    test('gives its text in pieces, as they come', async ({ call, respond }) => {
      await respond({ text: ['one ', 'two ', 'three'] });
      const { parts } = await call();
      expect(parts.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(1);
    });

    test('may be empty', async ({ call, respond }) => {
      await respond({});
      const answer = await call();
      checkStream(answer);
      expect(joined(answer, 'text-delta')).toBe('');
    });

    test(
      'streams its thoughts apart from the text, before it',
      async ({ call, respond }) => {
        await respond({ thoughts: 'hm', text: ['Rain.'] });
        const answer = await call();
        checkStream(answer);
        expect(joined(answer, 'reasoning-delta')).toBe('hm');
        expect(joined(answer, 'text-delta')).toBe('Rain.');
        expect(
          typesOf(answer).indexOf('reasoning-start') < typesOf(answer).indexOf('text-start'),
        ).toBe(true);
      },
      'thoughts',
    );
  });
  endContract(suite);
}

function endContract({ describe, expect, test }: ModelSuite): void {
  describe('the end of an answer', () => {
    test('says why it ended', async ({ call, respond }) => {
      for (const finishReason of ['stop', 'length'] as const) {
        await respond({ text: ['It'], finishReason });
        const { parts } = await call();
        const finish = parts.at(-1);
        expect(finish?.type === 'finish' ? finish.finishReason.unified : finish, finishReason).toBe(
          finishReason,
        );
      }
    });

    test(
      'says what it used, of this call and not of all',
      async ({ call, respond }) => {
        for (const usage of [
          { inputTokens: 20, outputTokens: 9 },
          { inputTokens: 7, outputTokens: 3 },
        ]) {
          await respond({ text: ['It'], usage });
          const { parts } = await call();
          const finish = parts.at(-1);
          const found =
            finish?.type === 'finish'
              ? [finish.usage.inputTokens.total, finish.usage.outputTokens.total]
              : finish;
          expect(found).toEqual([usage.inputTokens, usage.outputTokens]);
        }
      },
      'usage',
    );
  });
}
