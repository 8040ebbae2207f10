/** Put on models that ask nobody outside. Copies of this package know each other's. */
export const testModelMark: unique symbol = Symbol.for('adjutant.test_model');

/** The same model, known as one that asks nobody outside. */
export function asTestModel<Marked extends object>(
  model: Marked,
): Marked & { readonly [testModelMark]: true } {
  return Object.assign(model, { [testModelMark]: true as const });
}

export function isTestModel(model: object): boolean {
  return (model as { readonly [testModelMark]?: unknown })[testModelMark] === true;
}
