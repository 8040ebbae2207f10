/** The first frame of each response. */
export const created = {
  type: 'response.created',
  response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini' },
};
/** Token counts with cached and reasoning tokens. */
export const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
};
/** The last frame of each response. */
export const completed = { type: 'response.completed', response: { id: 'resp_1', usage } };
/** The frames of one text of a response. */
export const message = (text: string, id = 'msg_1') => [
  { type: 'response.output_item.added', output_index: 1, item: { type: 'message', id } },
  { type: 'response.output_text.delta', item_id: id, output_index: 1, delta: text },
  { type: 'response.output_item.done', output_index: 1, item: { type: 'message', id } },
];
/** The frames of a reasoning item with its encrypted content. */
export const reasoning = [
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
    delta: 'think',
  },
  { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', summary_index: 0 },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'cipher' },
  },
];
/** The frames of a call of `weather` with `args` as its JSON text. */
export const functionCall = (args: string) => [
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { type: 'function_call', id: 'fc_1', call_id: 'call_a', name: 'weather', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: args },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_a',
      name: 'weather',
      arguments: args,
      status: 'completed',
    },
  },
];
/** All frames of a response around those of its content. */
export const responseFrames = (...frames: object[]) => [created, ...frames, completed];
/** All frames of an answer of the chat completions API that says `text`. */
export const chatFrames = (text: string) => [
  {
    id: 'c',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { role: 'assistant', content: text } }],
  },
  { id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  {
    id: 'c',
    created: 1,
    model: 'm',
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  },
  '[DONE]',
];
