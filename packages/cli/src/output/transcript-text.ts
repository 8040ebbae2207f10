import type { TranscriptEntry } from 'adjutant/views';
import { plainLine, plainText } from './plain-text.ts';
import type { Style } from './style.ts';
import { toolLine } from './tool-line.ts';

/** Returns a conversation for people, one text for each entry. */
export function transcriptText(style: Style, entries: readonly TranscriptEntry[]): string[] {
  return entries.map((entry) => entryText(style, entry));
}

function entryText(style: Style, entry: TranscriptEntry): string {
  switch (entry.kind) {
    case 'user':
      return `${style.bold('user')}\n${plainText(entry.text)}\n`;
    case 'assistant':
      return `${style.bold(plainLine(entry.agent))}\n${plainText(entry.text)}\n`;
    case 'thought':
      return style.dim(`${plainLine(entry.agent)} thinks\n${plainText(entry.text)}\n`);
    case 'tool':
      return `${toolLine(style, entry, entry.result, entry.durationMs)}\n`;
    case 'end': {
      const message = entry.message === undefined ? '' : ` – ${plainLine(entry.message)}`;
      return `${style.red(`! ${plainLine(entry.name)}: ${entry.status}`)}${message}\n`;
    }
  }
}
