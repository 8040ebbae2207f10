import { agent } from 'adjutant';
import { saveReport } from './tools/reports.ts';

export const writer = agent({
  name: 'writer',
  description: 'Writes a short report from facts that it is given, and saves it',
  model: process.env['ADJUTANT_MODEL'] || 'rehearsal',
  instructions: `You write short reports in plain words.
- Use the facts that you were given, and no others. Keep their sources.
- Save the report by the tool, and answer with its text.`,
  tools: [saveReport],
});
