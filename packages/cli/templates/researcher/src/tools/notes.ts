import { tool } from 'adjutant';
import { z } from 'zod';

interface Note {
  readonly text: string;
  readonly source: string;
}

/** Notes are in the state of the session: they are in its ledger, and survive the process. */
const key = 'notes';

export const saveNote = tool({
  name: 'saveNote',
  description: 'Saves a finding with its source',
  schema: z.object({
    text: z.string().min(1).describe('The finding, in one sentence'),
    source: z.string().min(1).describe('Address of the page, or how it was found out'),
  }),
  idempotent: true,
  execute: ({ args, state }) => {
    const notes = notesIn(state[key]);
    if (!notes.some(({ text }) => text === args.text)) state[key] = [...notes, { ...args }];
    return `Saved: ${args.text}`;
  },
});

export const findNotes = tool({
  name: 'findNotes',
  description: 'Finds saved notes that have all of the words',
  schema: z.object({ words: z.string().describe('Words, separated by spaces; none: all notes') }),
  readOnly: true,
  execute: ({ args, state }) => {
    const words = args.words.toLowerCase().split(/\s+/);
    const found = notesIn(state[key]).filter(({ text }) =>
      words.every((word) => text.toLowerCase().includes(word)),
    );
    return { notes: found.map(({ text, source }) => ({ text, source })) };
  },
});

function notesIn(value: unknown): readonly Note[] {
  return Array.isArray(value) ? (value as readonly Note[]) : [];
}
