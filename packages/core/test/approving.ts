import { type Agent, agent, type JsonValue, memoryStore, type Store, type Tool, tool } from 'adjutant';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

/** A store that outlives the runtimes on it, as a database does. */
export function lasting(store: Store = memoryStore()): Store {
  return { description: store.description, admin: store.admin, for: (scope) => store.for(scope), close: async () => undefined };
}

type PayOptions = Partial<Parameters<typeof tool<{ cents: number; to?: string }>>[0]>;

/** A tool that asks before it pays, and what it has paid. */
export function paying(options: PayOptions = {}): { readonly pay: Tool; readonly paid: { cents: number; to?: string }[] } {
  const paid: { cents: number; to?: string }[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number().int(), to: z.string().optional() }),
    approval: true,
    execute: (ctx) => {
      paid.push(ctx.args as { cents: number; to?: string });
      return `paid ${ctx.args.cents}`;
    },
    ...(options as object),
  }) as Tool;
  return { pay, paid };
}

/** A model that makes these calls at once and then ends, also in a process that continues its run. */
export function callsOnce(...calls: readonly { readonly name: string; readonly args: JsonValue }[]): ScriptedModel {
  return scriptedModel((prompt) => (prompt.some(({ role }) => role === 'tool') ? { text: 'Done.' } : { toolCalls: calls }));
}

/** An agent that makes one or several calls of one tool. */
export function caller(called: Tool, ...args: readonly JsonValue[]): Agent {
  return agent({ name: 'caller', model: callsOnce(...args.map((given) => ({ name: called.name, args: given }))), tools: [called] });
}
