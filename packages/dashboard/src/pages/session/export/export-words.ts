import { plural } from '../../../components/format.ts';

/** Returns the keys that a reader has written with commas between them. */
export function fieldsOf(text: string): readonly string[] {
  return [...new Set(text.split(',').map((key) => key.trim()))].filter((key) => key !== '');
}

/** Says what was taken out of a ledger file, and which keys stood nowhere in it. */
export function exportedWords(file: string, fields: readonly string[]): string {
  const removed = removedOf(file);
  const counts = Object.values(removed);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const idle = fields.filter((field) => !Object.hasOwn(removed, `field ${field}`));
  const taken = total === 0 ? 'nothing had to be taken out' : `${plural(total, 'value')} taken out`;
  const nothing = idle.length === 0 ? '' : ` Nothing more stood under ${idle.join(', ')}.`;
  return `Saved, ${taken}.${nothing}`;
}

/** Reads the line of the file that says it: the whole of it may be long. */
function removedOf(file: string): Readonly<Record<string, number>> {
  const [, redaction = '{}'] = /^"redaction": (.*),$/m.exec(file) ?? [];
  const { removed = {} } = JSON.parse(redaction) as { removed?: Record<string, number> };
  return removed;
}
