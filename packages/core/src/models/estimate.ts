/** A rough count of tokens, four characters to a token, from a text or from its length. For budgets and for calls whose usage was lost. */
export function estimateTokens(text: string | number): number {
  return Math.ceil((typeof text === 'string' ? text.length : text) / 4);
}
