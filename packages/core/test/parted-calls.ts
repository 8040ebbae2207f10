import type { LanguageModelV4Prompt } from '@ai-sdk/provider';

/** Ids of calls without a result right behind them, and of results without a call. */
export function partedCalls(prompt: LanguageModelV4Prompt): string[] {
  const found: string[] = [];
  let open: string[] = [];
  for (const message of prompt) {
    const results =
      message.role === 'tool'
        ? message.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    found.push(
      ...open.filter((id) => !results.includes(id)),
      ...results.filter((id) => !open.includes(id)),
    );
    open =
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [];
  }
  return [...found, ...open];
}
