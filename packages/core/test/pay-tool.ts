import { type Tool, tool } from 'adjutant';
import { z } from 'zod';

export interface Payment {
  readonly cents: number;
  readonly to?: string;
}

export type PayToolOptions = Partial<Parameters<typeof tool<{ cents: number; to?: string }>>[0]>;

/** A tool that asks before it pays, and what it has paid. */
export function payTool(options: PayToolOptions = {}): {
  readonly pay: Tool;
  readonly paid: Payment[];
} {
  const paid: Payment[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number().int(), to: z.string().optional() }),
    approval: true,
    execute: (ctx) => {
      paid.push(ctx.args as Payment);
      return `paid ${ctx.args.cents}`;
    },
    ...(options as object),
  }) as Tool;
  return { pay, paid };
}
