import { agent, pending, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

export const refunds: string[] = [];
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  schema: z.object({ order: z.string() }),
  approval: true,
  execute: ({ args }) => {
    refunds.push(args.order);
    return 'refunded';
  },
});
const film = tool({
  name: 'film',
  description: 'Makes a film',
  schema: z.object({ id: z.string() }),
  execute: ({ args }) => pending({ operationId: args.id }),
});

/**
 * Asks for leave to refund the order that it is told of, or begins a film; then says what came of
 * it.
 */
export function clerk() {
  const model = scriptedModel(
    (prompt) => {
      const last = prompt.at(-1);
      if (last?.role === 'tool')
        return {
          text:
            'Done: ' +
            `${JSON.stringify(last.content.map((part) => ('output' in part ? part.output : part)))}`,
        };
      const text = JSON.stringify(last?.content);
      const order = /order (\w+)/.exec(text)?.[1];
      const filmId = /film (\w+)/.exec(text)?.[1];
      if (order !== undefined) return { toolCalls: [{ name: 'refund', args: { order } }] };
      return filmId === undefined
        ? { chunks: ['Hel', 'lo.'] }
        : { toolCalls: [{ name: 'film', args: { id: filmId } }] };
    },
    { record: false },
  );
  return agent({ name: 'clerk', model, tools: [refund, film] });
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
