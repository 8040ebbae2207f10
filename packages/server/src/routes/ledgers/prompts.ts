import type { Agent, Runtime } from 'adjutant';
import { modelFacts } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import { inspectPrompt } from 'adjutant/views';
import type { AddRoutes } from '../../http/parts.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { type PromptAnswer, promptPathSchema, promptSchema } from '../../schemas/prompt.ts';

const getPrompt = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/prompts/{seq}',
  permission: 'read',
  operationId: 'getPrompt',
  tag: 'Ledgers',
  summary: 'The exact prompt of a model call',
  description:
    'Made again from the ledger, and divided into sections with their tokens. `previous` says ' +
    'what has changed since the last call of the same agent.',
  params: promptPathSchema,
  answers: { 200: { description: 'The prompt', schema: promptSchema } },
});

/** Adds the route of the prompts that models received. */
export const addPromptRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, getPrompt, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, params, principal, request } = input;
      const inspected = await replays.answerInTurn(principal, request.signal, async () =>
        inspectPrompt(await app.sessions.open({ id, observe: false }), params.seq),
      );
      const window = windowOf(app, inspected);
      // JSON of the view, whose types are stricter than those of the schema.
      const body = { ...inspected, ...defined({ window }) } as unknown as PromptAnswer;
      return { status: 200, body };
    }),
  );
};

/** Returns the window of the model that was called, if an agent of the app still has it. */
function windowOf(
  { runnables }: Pick<Runtime, 'runnables'>,
  { agent, model }: { readonly agent: string; readonly model: string },
): number | undefined {
  const found = runnables.find(({ name }) => name === agent);
  if (found?.kind !== 'agent') return undefined;
  const { model: first, fallbackModels } = found as Agent;
  const called = [first, ...fallbackModels].find(
    ({ provider, modelId }) => `${provider}:${modelId}` === model,
  );
  return called === undefined ? undefined : modelFacts(called).contextWindow;
}
