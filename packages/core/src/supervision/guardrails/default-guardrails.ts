import type { Guardrail } from '../guardrail.ts';
import { injectionPatterns } from './injection-patterns.ts';
import { inventedToolCalls } from './invented-tool-calls.ts';

/**
 * The default guardrails. They point out to the model instructions inside results of tools, and
 * tool calls that are only written as text. Neither refuses or changes anything that a person sees.
 */
export const defaultGuardrails: readonly Guardrail[] = Object.freeze([
  injectionPatterns({ input: false }),
  inventedToolCalls(),
]);
