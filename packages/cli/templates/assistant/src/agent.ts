import { agent } from 'adjutant';
import { remind } from './tools/invoices.ts';

export const assistant = agent({
  name: 'assistant',
  model: process.env['ADJUTANT_MODEL'] || 'rehearsal',
  instructions: `You help the bookkeeper of a small shop.
- Send a reminder only when you are asked to, and only by the tool.
- Say what you did in one sentence. Never invent an invoice or an amount.`,
  tools: [remind],
});
