/** Port of `examples/plan-and-execute/plan-and-execute.ipynb` of langgraphjs. */
import { agent, run, runtime, step, tool } from 'adjutant';
import { z } from 'zod';
import { executorModel, plannerModel, replannerModel } from './models.ts';

const search = tool({
  name: 'search',
  description: 'Searches the web',
  schema: z.object({ query: z.string() }),
  readOnly: true,
  execute: async (ctx) => {
    const response = await fetch(process.env['TAVILY_URL'] ?? 'https://api.tavily.com/search', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${process.env['TAVILY_API_KEY']}`,
      },
      body: JSON.stringify({ query: ctx.args.query, max_results: 3 }),
      signal: ctx.signal,
    });
    return response.text();
  },
});

const executor = agent({ name: 'agent', model: executorModel(), tools: [search] });
await run(executor, 'who is the winner of the us open');

const plan = z.object({
  steps: z.array(z.string()).describe('What is to be done, in the order in which to do it'),
});

const instructions = `Make a simple plan for the objective, step by step.
The steps are single tasks which, done rightly, give the right answer; none is superfluous.
The result of the last one is the final answer.
Each step says everything that is needed for it; none is skipped.`;

const planner = agent({ name: 'planner', model: plannerModel(), instructions, output: plan });
await run(planner, 'what is the hometown of the current Australia open winner?');

const replanner = agent({
  name: 'replan',
  model: replannerModel(),
  instructions: `${instructions}
You see the objective, the plan and the steps that were done. Bring the plan up to date.
When nothing is left to do, respond to the user. Else give the steps that are STILL to be done.`,
  output: z.union([plan, z.object({ response: z.string().describe('Response to the user') })]),
});

const planAndExecute = step({
  name: 'plan_and_execute',
  execute: async (ctx) => {
    const objective = ctx.message ?? '';
    const first = await ctx.call(planner, { message: objective });
    if (first.output === undefined) return ctx.fail('There is no plan');
    let { steps } = first.output;
    const pastSteps: string[] = [];
    for (let round = 1; round <= 50; round++) {
      const [task = objective, ...rest] = steps;
      const { output } = await ctx.call(executor, { message: task });
      if (output === undefined) return ctx.fail(`"${task}" failed`);
      pastSteps.push(`${task}: ${output}`);
      const lists = `Plan:\n${rest.join('\n')}\n\nDone:\n${pastSteps.join('\n')}`;
      const next = await ctx.call(replanner, { message: `Objective: ${objective}\n\n${lists}` });
      if (next.output === undefined) return ctx.fail('There is no new plan');
      if ('response' in next.output) return ctx.complete(next.output.response);
      steps = next.output.steps;
    }
    return ctx.fail('50 rounds were not enough');
  },
});

const app = runtime({ app: 'plan-and-execute', runnables: [planAndExecute] });
const question = 'what is the hometown of the 2024 Australian open winner?';
for await (const event of app.run(planAndExecute, question)) console.log(event);
