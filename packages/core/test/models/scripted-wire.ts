import type { ModelScript } from 'adjutant/testing';
import { type Frame, hang, json, type Responder, reset, sse } from './wire-server.ts';

/** Encoding of a script by a provider. */
interface Dialect {
  readonly frames: (script: ModelScript) => readonly Frame[];
  readonly end: (script: ModelScript) => readonly Frame[];
  readonly error: (status: number) => unknown;
}

function responderOf({ frames, end, error }: Dialect): (script: ModelScript) => Responder {
  return (script) => {
    if (script.failsWith !== undefined) return json(script.failsWith, error(script.failsWith));
    const sent = frames(script);
    if (script.ends === 'never') return hang(...sent);
    return script.ends === 'broken' ? reset(...sent) : sse(...sent, ...end(script));
  };
}

function reasonOf({ finishReason, toolCalls = [] }: ModelScript): 'stop' | 'length' | 'tool-calls' {
  return finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop');
}

let callCount = 0;

const openaiFrames: Dialect['frames'] = ({ text = [], thoughts, toolCalls = [] }) => {
  const thinking =
    thoughts === undefined
      ? []
      : [
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: { type: 'reasoning', id: 'rs_1', encrypted_content: null },
          },
          { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
          {
            type: 'response.reasoning_summary_text.delta',
            item_id: 'rs_1',
            summary_index: 0,
            delta: thoughts,
          },
          { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', summary_index: 0 },
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'cipher' },
          },
        ];
  const said =
    text.length === 0
      ? []
      : [
          {
            type: 'response.output_item.added',
            output_index: 1,
            item: { type: 'message', id: 'msg_1' },
          },
          ...text.map((delta) => ({
            type: 'response.output_text.delta',
            item_id: 'msg_1',
            output_index: 1,
            delta,
          })),
        ];
  const saidAll =
    text.length === 0
      ? []
      : [
          {
            type: 'response.output_item.done',
            output_index: 1,
            item: { type: 'message', id: 'msg_1' },
          },
        ];
  const called = toolCalls.flatMap(({ name, args }, i) => {
    const item = {
      type: 'function_call',
      id: `fc_${++callCount}`,
      call_id: `call_${callCount}`,
      name,
    };
    const output_index = 2 + i;
    return [
      { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } },
      {
        type: 'response.function_call_arguments.delta',
        item_id: item.id,
        output_index,
        delta: args,
      },
      {
        type: 'response.output_item.done',
        output_index,
        item: { ...item, arguments: args, status: 'completed' },
      },
    ];
  });
  return [
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm' } },
    ...thinking,
    ...said,
    ...saidAll,
    ...called,
  ];
};

export const openaiWire = responderOf({
  frames: openaiFrames,
  end: (script) => {
    const { inputTokens = 10, outputTokens = 5 } = script.usage ?? {};
    const usage = {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const cut = reasonOf(script) === 'length';
    const response = {
      id: 'resp_1',
      usage,
      ...(cut ? { incomplete_details: { reason: 'max_output_tokens' } } : {}),
    };
    return [{ type: cut ? 'response.incomplete' : 'response.completed', response }];
  },
  error: (status) => ({ error: { message: `HTTP ${status}`, type: 'error', code: null } }),
});

const chatReasons = { stop: 'stop', length: 'length', 'tool-calls': 'tool_calls' } as const;

/** Chat completions, as compatible servers have them. */
export const chatWire = responderOf({
  frames: ({ text = [], thoughts, toolCalls = [] }) => {
    const chunk = (delta: object): object => ({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, delta }],
    });
    return [
      ...(thoughts === undefined
        ? []
        : [chunk({ role: 'assistant', reasoning_content: thoughts })]),
      ...text.map((content) => chunk({ role: 'assistant', content })),
      ...toolCalls.map(({ name, args }, index) =>
        chunk({
          tool_calls: [
            {
              index,
              id: `call_${++callCount}`,
              type: 'function',
              function: { name, arguments: args },
            },
          ],
        }),
      ),
    ];
  },
  end: (script) => {
    const { inputTokens = 10, outputTokens = 5 } = script.usage ?? {};
    const usage = {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    };
    return [
      {
        id: 'c',
        model: 'm',
        choices: [{ index: 0, delta: {}, finish_reason: chatReasons[reasonOf(script)] }],
        usage,
      },
      '[DONE]',
    ];
  },
  error: (status) => ({ error: { message: `HTTP ${status}` } }),
});

const claudeReasons = { stop: 'end_turn', length: 'max_tokens', 'tool-calls': 'tool_use' } as const;

export const claudeWire = responderOf({
  frames: ({ text = [], thoughts, toolCalls = [], usage }) => {
    let index = -1;
    const block = (content_block: object, deltas: readonly object[]): readonly Frame[] => {
      index++;
      return [
        { type: 'content_block_start', index, content_block },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ];
    };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: usage?.inputTokens ?? 10 },
    };
    const thinking =
      thoughts === undefined
        ? []
        : block({ type: 'thinking', thinking: '' }, [
            { type: 'thinking_delta', thinking: thoughts },
          ]);
    const said =
      text.length === 0
        ? []
        : block(
            { type: 'text', text: '' },
            text.map((part) => ({ type: 'text_delta', text: part })),
          );
    const called = toolCalls.flatMap(({ name, args }) =>
      block({ type: 'tool_use', id: `toolu_${++callCount}`, name, input: {} }, [
        { type: 'input_json_delta', partial_json: args },
      ]),
    );
    return [{ type: 'message_start', message }, ...thinking, ...said, ...called];
  },
  end: (script) => [
    {
      type: 'message_delta',
      delta: { stop_reason: claudeReasons[reasonOf(script)], stop_sequence: null },
      usage: { output_tokens: script.usage?.outputTokens ?? 5 },
    },
    { type: 'message_stop' },
  ],
  error: (status) => ({ type: 'error', error: { type: 'api_error', message: `HTTP ${status}` } }),
});

export const geminiWire = responderOf({
  frames: ({ text = [], thoughts, toolCalls = [] }) => {
    const parts = (...given: object[]): object => ({
      candidates: [{ content: { role: 'model', parts: given } }],
    });
    return [
      ...(thoughts === undefined ? [] : [parts({ text: thoughts, thought: true })]),
      ...text.map((part) => parts({ text: part })),
      ...toolCalls.map(({ name, args }) =>
        parts({ functionCall: { name, args: JSON.parse(args) as object } }),
      ),
    ];
  },
  end: (script) => {
    const { inputTokens = 10, outputTokens = 5 } = script.usage ?? {};
    const finishReason = reasonOf(script) === 'length' ? 'MAX_TOKENS' : 'STOP';
    return [
      {
        candidates: [{ content: { role: 'model', parts: [] }, finishReason }],
        usageMetadata: {
          promptTokenCount: inputTokens,
          candidatesTokenCount: outputTokens,
          totalTokenCount: inputTokens + outputTokens,
        },
      },
    ];
  },
  error: (status) => ({ error: { code: status, message: `HTTP ${status}`, status: 'UNKNOWN' } }),
});
