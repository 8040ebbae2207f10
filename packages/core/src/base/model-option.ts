import { isObject, type OptionCheck } from './options.ts';

const aModel =
  "a model such as openai('gpt-5-mini') or parseModelName('openai:gpt-5-mini'), or an AI SDK model";

/** The requirement on a model, for error messages. */
export const isModel: OptionCheck = (value) => {
  if (isObject(value) !== undefined) return aModel;
  const { kind, load, doStream } = value as {
    readonly kind?: unknown;
    readonly load?: unknown;
    readonly doStream?: unknown;
  };
  return typeof (kind === 'model' ? load : doStream) === 'function' ? undefined : aModel;
};
