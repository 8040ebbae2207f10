import { isStepCount, ToolLoopAgent, tool } from 'ai';
import { z } from 'zod';
import { instantModel, roundsOf } from '../instant-model.ts';
import { assertEqual, type Contender, deltaText } from './contender.ts';

const add = tool({
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

export const aiSdk: Contender = {
  name: 'AI SDK',
  rounds(rounds, calls) {
    const agent = new ToolLoopAgent({
      model: instantModel(roundsOf(rounds, calls)),
      tools: { add },
      stopWhen: isStepCount(rounds + 100),
    });
    return async () => {
      const result = await agent.generate({ prompt: 'go' });
      assertEqual(result.steps.length, rounds + 1, 'Steps of the AI SDK');
    };
  },
  deltas(count) {
    const deltas = Array.from({ length: count }, () => deltaText);
    const model = instantModel(() => ({ deltas }));
    const agent = new ToolLoopAgent({ model });
    return async () => {
      let received = 0;
      let firstAfterMs = 0;
      const result = await agent.stream({ prompt: 'go' });
      for await (const _delta of result.textStream)
        if (received++ === 0) firstAfterMs = performance.now() - model.firstDeltaAt;
      return { received, firstAfterMs };
    };
  },
};
