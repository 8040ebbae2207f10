import { plainText } from './plain-text.ts';
import type { Style } from './style.ts';

/** The lines of a diff in colours: what was in red, what is in green. */
export function diffLines(style: Style, text: string): string[] {
  return plainText(text)
    .split('\n')
    .map((line, i) => {
      if (i === 0) return style.bold(line);
      if (/^\s*- /.test(line)) return style.red(line);
      return /^\s*\+ /.test(line) ? style.green(line) : line;
    });
}
