import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from 'adjutant';
import { z } from 'zod';

const folder = join(import.meta.dirname, '../../reports');

export const saveReport = tool({
  name: 'saveReport',
  description: 'Saves a report as a Markdown file',
  schema: z.object({
    name: z
      .string()
      .regex(/^[a-z0-9-]{1,60}$/)
      .describe('Name without ending: small letters, digits and hyphens'),
    text: z.string().min(1).describe('The report in Markdown'),
  }),
  approval: { summary: ({ args }) => `Save reports/${args.name}.md` },
  // Saving the same report twice is the same as saving it once.
  idempotent: true,
  execute: async ({ args }) => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${args.name}.md`), args.text);
    return `Saved reports/${args.name}.md.`;
  },
});
