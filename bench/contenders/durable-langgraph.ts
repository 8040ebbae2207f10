import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { type BaseCheckpointSaver, Command, interrupt } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { oneCall, roundsOf } from '../instant-model.ts';
import { assertEqual } from './contender.ts';
import type { DurableContender } from './durable-contender.ts';
import { add, InstantChatModel } from './langgraph.ts';

const addIfAllowed = tool(
  async ({ a, b }: { a: number; b: number }) =>
    interrupt({ a, b }) === true ? String(a + b) : 'refused',
  {
    name: 'add',
    description: 'Adds two numbers',
    schema: z.object({ a: z.number(), b: z.number() }),
  },
);

/**
 * LangGraph.js as it comes: what it writes, it writes beside the next step (its `durability:
 * 'async'`).
 */
export function durableLangGraph(
  checkpointer: BaseCheckpointSaver,
  bytes: () => Promise<number>,
): DurableContender {
  const thread = (session: string) => ({ configurable: { thread_id: session } });
  const agentWith = (answer: ConstructorParameters<typeof InstantChatModel>[0], tools = [add]) =>
    createReactAgent({ llm: new InstantChatModel(answer), tools, checkpointer });
  return {
    name: 'LangGraph.js',
    async rounds(session, rounds) {
      const input = { messages: [new HumanMessage('go')] };
      const { messages } = await agentWith(roundsOf(rounds, 1)).invoke(input, {
        ...thread(session),
        recursionLimit: rounds * 2 + 100,
      });
      assertEqual(messages.length, rounds * 2 + 2, 'Messages of LangGraph.js');
    },
    async storeRounds(session, rounds) {
      // One checkpoint with all messages is what the last of as many rounds holds.
      await agentWith(roundsOf(0, 1)).updateState(
        thread(session),
        { messages: messagesOf(rounds) },
        'agent',
      );
    },
    async oneMore(session) {
      const { messages } = await agentWith(roundsOf(0, 1)).invoke(
        { messages: [new HumanMessage('go')] },
        thread(session),
      );
      assertEqual(messages.at(-1)?.getType() === 'ai' ? 1 : 0, 1, 'Answers of LangGraph.js');
    },
    async wait(session) {
      const given = await agentWith(oneCall, [addIfAllowed]).invoke(
        { messages: [new HumanMessage('go')] },
        thread(session),
      );
      assertEqual(
        (given as { __interrupt__?: unknown[] }).__interrupt__?.length ?? 0,
        1,
        'Interrupts of LangGraph.js',
      );
    },
    async approval(session) {
      const agent = agentWith(oneCall, [addIfAllowed]);
      return async () => {
        const { messages } = await agent.invoke(new Command({ resume: true }), thread(session));
        assertEqual(messages.length, 4, 'Messages of LangGraph.js');
      };
    },
    bytes,
  };
}

function messagesOf(rounds: number) {
  const messages: (HumanMessage | AIMessage | ToolMessage)[] = [new HumanMessage('go')];
  for (let round = 0; round < rounds; round++) {
    const id = `call_${round}_0`;
    messages.push(
      new AIMessage({ content: '', tool_calls: [{ id, name: 'add', args: { a: 1, b: 2 } }] }),
    );
    messages.push(new ToolMessage({ content: '3', tool_call_id: id, name: 'add' }));
  }
  return [...messages, new AIMessage('done')];
}
