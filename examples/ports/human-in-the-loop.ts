/** Port of `examples/agent-patterns/human-in-the-loop.ts` of openai-agents-js. */
import readline from 'node:readline/promises';
import { agent, agentTool, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { z } from 'zod';
import { weatherAssistant, weatherReporter } from './models.ts';

const getWeather = tool({
  name: 'get_weather',
  description: 'Conditions (not the temperature) in a city',
  schema: z.object({ city: z.string().describe('Name of the city') }),
  execute: (ctx) => `The weather in ${ctx.args.city} is sunny`,
});

const weatherAgent = agent({
  name: 'Weather agent',
  description: 'Answers questions about the weather',
  model: weatherReporter(),
  instructions: 'Look up the conditions in each city that is asked about. Leave temperatures out.',
  tools: [getWeather],
});

const getTemperature = tool({
  name: 'get_temperature',
  description: 'Temperature in a city at this moment. One call for each city.',
  schema: z.object({ city: z.string().describe('Name of the city') }),
  approval: { when: (ctx) => ctx.args.city.includes('Oakland') },
  execute: (ctx) => `The temperature in ${ctx.args.city} is 20° Celsius`,
});

const assistant = agent({
  name: 'Basic test agent',
  model: weatherAssistant(),
  instructions:
    'Answer with the tools. Look up all that was asked for, in all cities, before you answer.',
  tools: [
    getTemperature,
    agentTool(weatherAgent, {
      name: 'ask_weather_agent',
      description: 'Conditions in one or more cities. Does not know temperatures.',
      approval: { when: ({ args }) => JSON.stringify(args).includes('San Francisco') },
    }),
  ],
});

async function confirm(question: string): Promise<boolean> {
  if (process.env['AUTO_APPROVE_HITL'] === '1') {
    console.log(`[auto-approve] ${question}`);
    return true;
  }
  const rl = readline.createInterface({ input: process.stdin, output: process.stdout });
  const answer = await rl.question(`${question} (y/n): `);
  rl.close();
  return ['y', 'yes'].includes(answer.toLowerCase());
}

const app = runtime({ app: 'weather', store: sqlite('weather.db'), runnables: [assistant] });
let result = await app.run(
  assistant,
  'What is the weather and temperature in San Francisco and Oakland?',
);
while (result.status === 'yielded') {
  // The store has the run: any other process could ask, answer and go on from here.
  const session = result.session.id;
  for (const { requestId, agent, summary } of await app.requests.listPendingApprovals({ session }))
    if (await confirm(`${agent} would like to use ${summary}. Do you approve?`))
      await app.requests.approve(requestId);
    else await app.requests.reject(requestId);
  result = await app.resume(assistant, session, { runId: result.runId });
}
console.log(result.output);
await app.close();
