import { addInput, instantModel, roundsOf } from '../instant-model.ts';
import { assertEqual, type Contender, deltaText } from './contender.ts';

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** The floor: a loop as one writes it by hand, without streams, checks, events or limits. */
export const bareLoop: Contender = {
  name: 'bare loop',
  rounds(rounds, calls) {
    const answer = roundsOf(rounds, calls);
    return async () => {
      const messages: Message[] = [{ role: 'user', content: 'go' }];
      let executed = 0;
      for (let call = 0; ; call++) {
        const given = await Promise.resolve(answer(call));
        if ('deltas' in given) break;
        const results = await Promise.all(
          Array.from({ length: given.calls }, (_, index) => add(JSON.parse(addInput(call, index)))),
        );
        messages.push({ role: 'assistant', content: given }, { role: 'tool', content: results });
        executed += results.length;
      }
      assertEqual(executed, rounds * calls, 'Tool calls of the bare loop');
    };
  },
  deltas(count) {
    const deltas = Array.from({ length: count }, () => deltaText);
    return async () => {
      const model = instantModel(() => ({ deltas }));
      const { stream } = await model.doStream({ prompt: [] });
      let received = 0;
      let firstAfterMs = 0;
      const reader = stream.getReader();
      for (;;) {
        const { done, value: part } = await reader.read();
        if (done) break;
        if (part.type !== 'text-delta') continue;
        if (received++ === 0) firstAfterMs = performance.now() - model.firstDeltaAt;
      }
      return { received, firstAfterMs };
    };
  },
};

async function add({ a, b }: { a: number; b: number }): Promise<number> {
  return a + b;
}
