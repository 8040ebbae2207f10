import { isAdjutantError, type StepContext, step } from 'adjutant';

/** A step whose output is what `work` gives. */
export const asking = (work: (ctx: StepContext) => Promise<unknown>, name = 'asking') =>
  step({ name, execute: async (ctx) => ctx.complete((await work(ctx)) as never) });

/** The code and the message of what is thrown. */
export const failure = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    (value) => ({ value }),
    (error: unknown) =>
      isAdjutantError(error) ? { code: error.code, message: error.message } : error,
  );
