import { type Agent, agent, type JsonValue, type Tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';

/** An agent that makes one call of a tool. */
export function caller(called: Tool, args: JsonValue): Agent {
  return agent({
    name: 'caller',
    model: roundModel([{ toolCalls: [{ name: called.name, args }] }, { text: 'Done.' }]),
    tools: [called],
  });
}
