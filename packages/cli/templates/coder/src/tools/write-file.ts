import { mkdir, realpath, writeFile as write } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type Tool, tool } from 'adjutant';
import { z } from 'zod';

/** A tool that writes files below a folder, each time after a person agreed. */
export function writeFile({ root }: { readonly root: string }): Tool {
  return tool({
    name: 'writeFile',
    description: 'Writes a text file below the project folder, in the place of what is there',
    schema: z.object({
      path: z.string().min(1).describe('Path of the file, relative to the project folder'),
      text: z.string().describe('The whole new text of the file'),
    }),
    approval: { summary: ({ args }) => `Write ${args.path} (${args.text.length} characters)` },
    // Writing the same text twice is the same as writing it once.
    idempotent: true,
    execute: async ({ args }) => {
      const path = await placeBelow(await realpath(root), args.path);
      await write(path, args.text);
      return `Wrote ${relative(root, path)}.`;
    },
  });
}

/** Path of a file below the root. Links that lead out of it are followed before it is checked. */
async function placeBelow(root: string, path: string): Promise<string> {
  const wanted = resolve(root, path);
  assertBelow(root, wanted);
  await mkdir(dirname(wanted), { recursive: true });
  const place = join(await realpath(dirname(wanted)), basename(wanted));
  const real = await realpath(place).catch(() => place);
  assertBelow(root, real);
  return real;
}

function assertBelow(root: string, path: string): void {
  if (!path.startsWith(root + sep)) throw new Error('The path is outside of the project folder.');
}
