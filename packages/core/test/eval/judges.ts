import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { saidLast } from './weather.ts';

/** A judge that finds the same of every criterion. */
export function judge(
  verdict: 'met' | 'partly_met' | 'not_met' | 'not_applicable' = 'met',
  criteria = 1,
): ScriptedModel {
  return scriptedModel(
    () => verdicts(Array.from({ length: criteria }, () => [verdict, 'Because.'])),
    { modelId: 'judge' },
  );
}

export function verdicts(
  found: readonly (readonly [verdict: string, reasoning: string])[],
): ScriptedResponse {
  return {
    text: JSON.stringify(
      Object.fromEntries(
        found.map(([verdict, reasoning], i) => [`criterion_${i + 1}`, { reasoning, verdict }]),
      ),
    ),
  };
}

/** A simulated user that says what is given, and then that it is done. */
export function talker(messages: readonly string[]): ScriptedModel {
  return scriptedModel(
    (prompt) => {
      const sent = Number(/You have sent (\d+) of/.exec(saidLast(prompt))?.[1] ?? 0);
      const message = messages[sent - 1];
      return {
        text: JSON.stringify(
          message === undefined
            ? { done: true, message: '', reason: 'All is done.' }
            : { done: false, message, reason: '' },
        ),
      };
    },
    { modelId: 'talker' },
  );
}
