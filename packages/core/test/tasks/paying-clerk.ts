import { type Agent, agent, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';

/** An agent that pays, for which a person is asked, and then says a last sentence. */
export function payingClerk(last = 'Paid'): Agent {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  });
  const model = roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: last }]);
  return agent({ name: 'clerk', model, tools: [pay] });
}
