import { plainText } from './plain-text.ts';
import type { Style } from './style.ts';

/** Returns the lines of a diff in colours: the old state in red, the new one in green. */
export function diffLines(style: Style, text: string): string[] {
  return plainText(text)
    .split('\n')
    .map((line, i) => {
      if (i === 0) return style.bold(line);
      if (/^\s*- /.test(line)) return style.red(line);
      return /^\s*\+ /.test(line) ? style.green(line) : line;
    });
}
