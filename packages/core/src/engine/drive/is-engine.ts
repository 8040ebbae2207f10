import type { OptionCheck } from '../../base/options.ts';
import type { Engine } from './engine.ts';

/** Check of the option `engine`. */
export const isEngine: OptionCheck = (value) => {
  const { cancel, health, name, schedule, start, stop, wake } = (value ?? {}) as Partial<Engine>;
  const methods = [cancel, health, schedule, start, stop, wake];
  return typeof name === 'string' && methods.every((method) => typeof method === 'function')
    ? undefined
    : 'an engine such as temporalEngine()';
};
