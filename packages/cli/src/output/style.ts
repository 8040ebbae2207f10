import { styleText } from 'node:util';
import type { OutputStream } from '../host/host.ts';

type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

/** Returns the colours that the stream and the environment (NO_COLOR, FORCE_COLOR) allow. */
export function styleFor(stream: OutputStream): Style {
  const paint =
    (format: keyof Style): Paint =>
    (text) =>
      styleText(format, text, { stream });
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}
