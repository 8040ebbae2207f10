import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';

/** A model that answers by how many rounds of tool calls its prompt shows, so that it goes on the same way after a stop. */
export function roundModel(responses: readonly ScriptedResponse[]): ScriptedModel {
  return scriptedModel((prompt) => responses[Math.min(rounds(prompt), responses.length - 1)] ?? { text: 'done' });
}

function rounds(prompt: LanguageModelV4Prompt): number {
  return prompt.filter(({ role }) => role === 'tool').length;
}
