import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedResponse,
  scriptedModel,
} from './scripted-model.ts';

/**
 * Makes a scripted model that answers by the number of answers in its prompt. So a new process goes
 * on where a stopped one ended. The last response is repeated. Prompts must keep all answers: no
 * compaction, and no other agent with the same history.
 */
export function roundModel(
  responses: readonly ScriptedResponse[],
  options: ScriptedModelOptions = {},
): ScriptedModel {
  return scriptedModel(
    (prompt) => responses[Math.min(answers(prompt), responses.length - 1)] ?? {},
    options,
  );
}

function answers(prompt: LanguageModelV4Prompt): number {
  return prompt.filter(({ role }) => role === 'assistant').length;
}
