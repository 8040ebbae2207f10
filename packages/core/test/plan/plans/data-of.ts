import type { StepContext } from 'adjutant';

/** The data that a step was given. */
export function dataOf<Data>({ input }: Pick<StepContext, 'input'>): Data {
  return (input?.data ?? {}) as Data;
}
