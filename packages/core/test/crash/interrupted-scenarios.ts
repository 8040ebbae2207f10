import { agent, parallel } from 'adjutant';
import { type MakeScenario, roundModel, scriptedModel } from 'adjutant/testing';
import { call, noting } from '../engine/app/recovery/scenarios.ts';
import { brokenOff } from '../engine/run/control/broken-off-model.ts';

/**
 * Somebody interrupts an answer, and lets the run go on. Each process interrupts anew, and what it
 * keeps of the answer is lost with it.
 */
export const interrupted: MakeScenario = () => {
  const isSecond = (prompt: readonly { readonly role: string }[]): boolean =>
    prompt.some(({ role }) => role === 'tool');
  const { model, said } = brokenOff(
    'Half of the way',
    scriptedModel((prompt) =>
      isSecond(prompt) ? { text: 'All the way.' } : { toolCalls: [call('note', 1)] },
    ),
    isSecond,
  );
  return {
    runnable: parallel({
      name: 'both',
      runnables: [
        agent({ name: 'walker', model, tools: [noting('note')], output: 'walker' }),
        agent({
          name: 'other',
          model: roundModel([{ toolCalls: [call('see', 2)] }, { text: 'seen' }]),
          tools: [noting('see')],
          output: 'other',
        }),
      ],
    }),
    interruptWhen: said,
    compares: 'outcome',
  };
};
