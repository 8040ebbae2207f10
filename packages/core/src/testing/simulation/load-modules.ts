import { loadValidators } from '../../tools/json-schema-check.ts';

/**
 * Loads the modules that the runtime loads at their first use. Loading takes real time, and
 * simulated time would overtake it: the first run of a seed would differ from the second.
 */
export async function loadModules(): Promise<void> {
  await Promise.all([loadValidators(), import('jsonrepair')]);
}
