import { type StepContext, step } from 'adjutant';

/** A step whose output is what `work` gives. */
export const asking = (work: (ctx: StepContext) => Promise<unknown>, name = 'asking') =>
  step({ name, execute: async (ctx) => ctx.complete((await work(ctx)) as never) });
