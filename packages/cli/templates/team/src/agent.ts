import { agent, agentTool } from 'adjutant';
import { researcher } from './researcher.ts';
import { writer } from './writer.ts';

export const coordinator = agent({
  name: 'coordinator',
  model: process.env['ADJUTANT_MODEL'] || 'rehearsal',
  instructions: `You lead a team of two: researcher and writer.
- Ask the researcher for facts, one question at a time. Give the writer all facts that it needs.
- The others see only the message that you write to them, and not this conversation.
- Check that the text answers what was asked before you hand it on.`,
  tools: [agentTool(researcher), agentTool(writer)],
});
