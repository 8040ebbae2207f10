import { notice } from '../output/notice.ts';
import type { Host } from './host.ts';

/** Milliseconds after which a person is told why nothing happens. */
const silenceMs = 3_000;

/** Word that stands for standard input. */
const standardInput = '-';

/** Returns the words of a goal, with the text of standard input where it is meant or piped. */
export async function withGivenText(host: Host, words: readonly string[]): Promise<string> {
  const said = words.filter((word) => word !== standardInput).join(' ');
  if (!host.isPiped && said === words.join(' ')) return said;
  const text = (await readStandardInput(host)).trimEnd();
  return [said, text].filter((part) => part.trim() !== '').join('\n\n');
}

/** Returns a text as it was given, or standard input where that is meant. */
export async function givenOrRead(host: Host, text: string): Promise<string> {
  return text === standardInput ? await readStandardInput(host) : text;
}

/** Reads standard input to its end. */
async function readStandardInput(host: Host): Promise<string> {
  const { stdin, clock } = host;
  const cancel = clock.setTimer(silenceMs, () =>
    notice(host, 'Reading standard input. To leave it out, start with < /dev/null.'),
  );
  try {
    let text = '';
    for await (const chunk of stdin.setEncoding('utf8')) {
      cancel();
      text += String(chunk);
    }
    return text;
  } finally {
    cancel();
  }
}
