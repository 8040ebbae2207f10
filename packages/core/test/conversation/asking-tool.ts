import { tool } from 'adjutant';
import { z } from 'zod';

export const ask = tool({
  name: 'ask',
  description: 'Asks the user',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
});
