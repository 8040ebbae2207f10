import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
} from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { type Answer, type Answering, roundsOf } from '../instant-model.ts';
import { assertEqual, type Contender, deltaText } from './contender.ts';

/** A tool that adds two numbers. */
export const add = tool(async ({ a, b }: { a: number; b: number }) => String(a + b), {
  name: 'add',
  description: 'Adds two numbers',
  schema: z.object({ a: z.number(), b: z.number() }),
});

/** The instant model in LangChain's interface. */
export class InstantChatModel extends BaseChatModel {
  readonly #answer: Answering;
  #calls = 0;
  firstDeltaAt = 0;

  constructor(answer: Answering) {
    super({});
    this.#answer = answer;
  }

  _llmType(): string {
    return 'instant';
  }

  override bindTools(): this {
    return this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const answer = this.#next(messages);
    if ('deltas' in answer)
      return { generations: [{ text: '', message: new AIMessage(answer.deltas.join('')) }] };
    const tool_calls = Array.from({ length: answer.calls }, (_, i) => ({
      id: `call_${this.#calls}_${i}`,
      name: 'add',
      args: { a: 1, b: 2 },
    }));
    return { generations: [{ text: '', message: new AIMessage({ content: '', tool_calls }) }] };
  }

  #next(messages: readonly BaseMessage[]): Answer {
    return this.#answer(this.#calls++, messages.at(-1)?.getType() === 'tool' ? 'tool' : 'other');
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: object,
    run?: CallbackManagerForLLMRun,
  ) {
    const answer = this.#next(messages);
    if (!('deltas' in answer)) return;
    this.firstDeltaAt = performance.now();
    for (const delta of answer.deltas) {
      const chunk = new ChatGenerationChunk({ text: delta, message: new AIMessageChunk(delta) });
      yield chunk;
      await run?.handleLLMNewToken(delta, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

export const langGraph: Contender = {
  name: 'LangGraph.js',
  rounds(rounds, calls) {
    const agent = createReactAgent({
      llm: new InstantChatModel(roundsOf(rounds, calls)),
      tools: [add],
    });
    return async () => {
      const result = await agent.invoke(
        { messages: [new HumanMessage('go')] },
        { recursionLimit: rounds * 2 + 100 },
      );
      assertEqual(result.messages.length, rounds * (calls + 1) + 2, 'Messages of LangGraph.js');
    };
  },
  deltas(count) {
    const deltas = Array.from({ length: count }, () => deltaText);
    return async () => {
      const model = new InstantChatModel(() => ({ deltas }));
      const agent = createReactAgent({ llm: model, tools: [] });
      let received = 0;
      let firstAfterMs = 0;
      for await (const [message] of await agent.stream(
        { messages: [new HumanMessage('go')] },
        { streamMode: 'messages' },
      )) {
        if (message.content === deltaText && received++ === 0)
          firstAfterMs = performance.now() - model.firstDeltaAt;
      }
      return { received, firstAfterMs };
    };
  },
};
