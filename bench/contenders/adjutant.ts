import { type Agent, agent, type Runtime, type RuntimeOptions, runtime, tool } from 'adjutant';
import { z } from 'zod';
import { type InstantModel, instantModel, roundsOf } from '../instant-model.ts';
import { assertEqual, type Contender, deltaText } from './contender.ts';

/**
 * A tool that declares nothing: its attempts are durable before it is executed, which is the
 * dearest kind.
 */
const add = tool({
  name: 'add',
  description: 'Adds two numbers',
  schema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ args }) => args.a + args.b,
});

/**
 * An agent that does so many rounds with so many calls in each, and the runtime of one run of it.
 */
export interface AgentOfRounds {
  readonly agent: Agent;
  readonly model: InstantModel;
  readonly app: Runtime;
  readonly run: (session?: string) => Promise<void>;
}

export function agentOfRounds(
  rounds: number,
  calls: number,
  options: Pick<RuntimeOptions, 'store' | 'supervision'> & { readonly keepTimes?: boolean } = {},
) {
  const { keepTimes = false, ...runtimeOptions } = options;
  const model = instantModel(roundsOf(rounds, calls), { keepTimes });
  const definition = agent({
    name: 'worker',
    model,
    tools: [add],
    limits: { rounds: rounds + 100 },
  });
  // One runtime for each conversation: of an app with thousands of them, not each would look for
  // runs to recover.
  const app = runtime({ app: 'bench', recover: 'manual', ...runtimeOptions });
  const run = async (session?: string): Promise<void> => {
    const result = await app.run(
      definition,
      session === undefined ? 'go' : { input: 'go', session },
    );
    assertEqual(result.rounds, rounds + 1, 'Rounds of Adjutant');
    assertEqual(result.toolCalls.length, rounds * calls, 'Tool calls of Adjutant');
  };
  return { agent: definition, model, app, run } satisfies AgentOfRounds;
}

export const adjutant: Contender = {
  name: 'Adjutant',
  rounds: (rounds, calls) => agentOfRounds(rounds, calls).run,
  deltas(count) {
    const deltas = Array.from({ length: count }, () => deltaText);
    const model = instantModel(() => ({ deltas }));
    const writer = agent({ name: 'writer', model });
    const app = runtime({ app: 'bench' });
    return async () => {
      let received = 0;
      let firstAfterMs = 0;
      for await (const event of app.run(writer, 'go')) {
        if (event.type !== 'assistant_delta') continue;
        if (received++ === 0) firstAfterMs = performance.now() - model.firstDeltaAt;
      }
      return { received, firstAfterMs };
    };
  },
};
