/** A request for a chat completion, as far as it is read. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly parameters: object };
  }[];
}

interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly {
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** The conversation in the marks that the model was trained with, up to its next words. */
export function promptOf({ messages }: ChatRequest): string {
  const told = messages.map((message) => {
    const role = message.role === 'tool' ? 'user' : message.role;
    return `<|im_start|>${role}\n${textOf(message)}<|im_end|>\n`;
  });
  return `${told.join('')}<|im_start|>assistant\n`;
}

function textOf({ content, tool_calls: calls = [] }: ChatMessage): string {
  const text =
    typeof content === 'string' ? content : (content ?? []).map((part) => part.text).join('');
  const called = calls.map(({ function: { name, arguments: args } }) => `${name} ${args}`);
  return [text, ...called].filter((line) => line !== '').join('\n');
}
