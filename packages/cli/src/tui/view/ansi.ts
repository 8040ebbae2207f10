import type { Color, Line, Span } from '../text/spans.ts';

const colours: Readonly<Record<Color, number>> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
};

/** Writes lines for a terminal. Without colours, bold and dim stay. */
export function ansiText(lines: readonly Line[], hasColours: boolean): string {
  return lines.map((line) => line.map((span) => ansiSpan(span, hasColours)).join('')).join('\n');
}

function ansiSpan(span: Span, hasColours: boolean): string {
  const { text, bold, dim, italic, underline, strike, color } = span;
  const codes = [
    ...(bold === true ? [1] : []),
    ...(dim === true ? [2] : []),
    ...(italic === true ? [3] : []),
    ...(underline === true ? [4] : []),
    ...(strike === true ? [9] : []),
    ...(color !== undefined && hasColours ? [colours[color]] : []),
  ];
  return codes.length === 0 ? text : `\u001B[${codes.join(';')}m${text}\u001B[0m`;
}
