import { joined, type ModelSuite, question, weather } from './harness.ts';
import { checkStream } from './stream-rules.ts';

const asked = { ...question, tools: [weather] };

/** Promise of tool calls: name, argument text and id of each come out as the model gave them. */
export function toolCallContract(suite: ModelSuite): void {
  formContract(suite);
  useContract(suite);
}

function formContract({ describe, expect, test }: ModelSuite): void {
  describe('tool calls', () => {
    test(
      'come with name, arguments as JSON text and an id, and the finish says so',
      async ({ call, respond }) => {
        await respond({
          text: ['I look.'],
          toolCalls: [{ name: 'weather', args: '{"city":"Rome"}' }],
        });
        const answer = await call(asked);
        checkStream(answer);
        const calls = answer.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
        expect(
          calls.map(({ toolName, input }) => [toolName, JSON.parse(input) as unknown]),
        ).toEqual([['weather', { city: 'Rome' }]]);
        const finish = answer.parts.at(-1);
        expect(finish?.type === 'finish' ? finish.finishReason.unified : finish).toBe('tool-calls');
      },
      'tool calls',
    );

    test(
      'of one answer keep their order and have ids of their own, also over several answers',
      async ({ call, respond }) => {
        const toolCalls = ['Rome', 'Oslo', 'Rome'].map((city) => ({
          name: 'weather',
          args: JSON.stringify({ city }),
        }));
        await respond({ toolCalls }, { toolCalls });
        const answers = [await call(asked), await call(asked)];
        const calls = answers.flatMap(({ parts }) =>
          parts.flatMap((part) => (part.type === 'tool-call' ? [part] : [])),
        );
        for (const answer of answers) checkStream(answer);
        expect(calls.map(({ input }) => (JSON.parse(input) as { city: string }).city)).toEqual([
          'Rome',
          'Oslo',
          'Rome',
          'Rome',
          'Oslo',
          'Rome',
        ]);
      },
      'tool calls',
    );
  });
}

function useContract({ describe, expect, test }: ModelSuite): void {
  describe('tool calls', () => {
    test(
      'with arguments that are no JSON come as they are: what is to be done with them is ' +
        'decided elsewhere',
      async ({ call, respond }) => {
        await respond({ toolCalls: [{ name: 'weather', args: '{"city": "Ro' }] });
        const answer = await call(asked);
        expect(answer.error).toBeUndefined();
        const calls = answer.parts.flatMap((part) =>
          part.type === 'tool-call' ? [part.input] : [],
        );
        expect(calls).toEqual(['{"city": "Ro']);
      },
      'tool calls',
      'broken arguments',
    );

    test(
      'may be asked for, forbidden, or left to the model',
      async ({ call, respond }) => {
        for (const type of ['auto', 'none', 'required'] as const) {
          await respond({ text: [type] });
          const answer = await call({ ...asked, toolChoice: { type } });
          expect(answer.error, type).toBeUndefined();
          expect(joined(answer, 'text-delta')).toBe(type);
        }
      },
      'tool calls',
    );
  });
}
