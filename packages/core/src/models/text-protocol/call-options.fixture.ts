import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';

const tools: LanguageModelV4CallOptions['tools'] = [
  {
    type: 'function',
    name: 'look',
    description: 'Looks something up',
    inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
  },
  { type: 'function', name: 'add', inputSchema: { type: 'object' } },
];
/** Options of a call with a question and two tools. */
export const options: LanguageModelV4CallOptions = {
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'How far is the moon?' }] },
  ],
  tools,
};
