/**
 * A page that refuses every visitor, and a model that asks for it again and again. Nothing is set
 * up here: supervision is on by default. It tells the model what to do instead, then does not make
 * the call any more, and the run ends with an answer. `explain` says what was decided, and why.
 */
import assert from 'node:assert/strict';
import { type AgentOptions, agent, run, ToolFailure, tool } from 'adjutant';
import { promptAt } from 'adjutant/context';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { explain, explainText } from 'adjutant/views';
import { z } from 'zod';

let fetched = 0;
const fetchPage = tool({
  name: 'fetchPage',
  description: 'Fetches a page',
  schema: z.object({ url: z.url() }),
  readOnly: true,
  execute: () => {
    fetched++;
    throw new ToolFailure('403 Forbidden', { errorType: 'http_403' });
  },
});

/**
 * It heeds nothing that it is told, as weak models do: as long as there are tools, it asks for the
 * same page.
 */
function stubbornModel(): ScriptedModel {
  const model: ScriptedModel = scriptedModel((_prompt, call) =>
    model.calls[call]?.toolChoice?.type === 'none'
      ? {
          text:
            'The page refuses visitors, so I could not read the prices. Please send me the ' +
            'page as a file.',
        }
      : { toolCalls: [{ name: 'fetchPage', args: { url: 'https://shop.example/prices' } }] },
  );
  return model;
}

/** Runs the agent, and says how often the page was really fetched. */
async function research(options: Pick<AgentOptions, 'supervision'>) {
  fetched = 0;
  // With a real model: model: openai('gpt-5-mini')
  const model = stubbornModel();
  const result = await run(
    agent({ name: 'researcher', model, tools: [fetchPage], ...options }),
    'What are the prices?',
  );
  return { ...result, model, fetched };
}

const unwatched = await research({ supervision: false });
console.log(
  `Without supervision: fetched ${unwatched.fetched} times, then ${unwatched.stopReason}.`,
);
assert.equal(unwatched.fetched, 25);
assert.equal(unwatched.stopReason, 'round_limit');

const { session, output, stopReason, rounds, ...watched } = await research({});
console.log(
  `By default: fetched ${watched.fetched} times in ${rounds} rounds, then ${stopReason}: ${output}`,
);
assert.equal(watched.fetched, 2);
assert.equal(stopReason, 'loop');
assert.match(output ?? '', /refuses visitors/);

console.log(`\n${explainText(explain(session))}`);
assert.deepEqual(
  explain(session).map(({ component, decision }) => `${component}: ${decision}`),
  [
    'error_router: hint', // the first time: look for the same content at another address
    'error_router: report', // the second time: this way is closed
    'loop_detector: block', // the third call is not made, and the model is told so
    'loop_detector: block', // nor is the fourth
    'limits: exhausted', // so it is asked for an answer without tools
    'run: stop_early',
  ],
);
// The hints of the supervision are in the prompts, and these can be shown again as they were.
const lastPrompt = JSON.stringify(promptAt(session, rounds).prompt);
assert.match(lastPrompt, /look for the same content at another address, or use another tool/);
assert.match(lastPrompt, /This way is closed/);
assert.match(lastPrompt, /Not run: this call of fetchPage failed before/);
