import {
  agent,
  type EventOf,
  type EventType,
  type Hooks,
  type Middleware,
  type RunResult,
  runtime,
  tool,
} from '../../../../src/index.ts';
import {
  type ScriptedResponses,
  scriptedModel,
} from '../../../../src/testing/kit/scripted-model.ts';

export const says = (text: string) => ({ text });
export const calls = (name: string, args: object = {}) => ({
  toolCalls: [{ name, args: args as never }],
});

export function eventsOf<Type extends EventType>(
  { session }: Pick<RunResult, 'session'>,
  type: Type,
): EventOf<Type>[] {
  return session.events.filter((event): event is EventOf<Type> => event.type === type);
}

export function decisions(result: Pick<RunResult, 'session'>, component: string): string[] {
  return eventsOf(result, 'decision').flatMap((event) =>
    event.component === component ? [event.decision] : [],
  );
}

export const echo = tool({
  name: 'echo',
  description: 'Says it again',
  schema: { type: 'object' },
  execute: (ctx) => ctx.args,
});

interface Setup {
  readonly hooks?: Hooks;
  readonly runtimeHooks?: Hooks;
  readonly middleware?: readonly Middleware[];
  readonly runtimeMiddleware?: readonly Middleware[];
}

export function setUp(
  responses: ScriptedResponses,
  { hooks, runtimeHooks, middleware, runtimeMiddleware }: Setup = {},
) {
  const model = scriptedModel(responses);
  const helper = agent({
    name: 'helper',
    model,
    tools: [echo],
    ...(hooks && { hooks }),
    ...(middleware && { middleware }),
  });
  const specialist = agent({
    name: 'specialist',
    model: scriptedModel([says('the specialist answers')]),
  });
  const app = runtime({
    app: 'test',
    runnables: [helper, specialist],
    ...(runtimeHooks && { hooks: runtimeHooks }),
    ...(runtimeMiddleware && { middleware: runtimeMiddleware }),
  });
  return { app, helper, specialist, model };
}
