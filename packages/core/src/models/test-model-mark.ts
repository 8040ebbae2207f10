/** Mark of models that send no requests. Copies of this package recognise it. */
export const testModelMark: unique symbol = Symbol.for('adjutant.test_model');

/** Returns the same model, marked as one that sends no requests. */
export function asTestModel<Marked extends object>(
  model: Marked,
): Marked & { readonly [testModelMark]: true } {
  return Object.assign(model, { [testModelMark]: true as const });
}

export function isTestModel(model: object): boolean {
  return (model as { readonly [testModelMark]?: unknown })[testModelMark] === true;
}
