import type { EventOf, Session } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import type { SourceOptions } from '../../modules/ledger-source.ts';
import { shorten } from '../../output/format.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine } from '../../output/plain-text.ts';
import { type Style, styleFor } from '../../output/style.ts';
import { ModelCalls } from '../../tui/prompt/model-calls.ts';
import { promptChanges } from '../../tui/prompt/prompt-changes.ts';
import { allParts, type PromptPart, promptSections } from '../../tui/prompt/prompt-sections.ts';
import { TraceIndex } from '../../tui/trace/trace-index.ts';
import { lookAt, noSuchCall, promptText } from '../show.ts';

export interface PromptCommandOptions extends SourceOptions {
  /** True to show only what changed since the call before. */
  readonly diff?: boolean;
  readonly json?: boolean;
}

const longestPart = 160;

/** `adjutant prompt <n> [session]`: shows what a model received. Writes nothing to the session. */
export function showPrompt(
  host: Host,
  number: number,
  id: string | undefined,
  options: PromptCommandOptions,
): Promise<number> {
  const { diff = false, json = false } = options;
  return lookAt(host, id, options, (session) =>
    diff
      ? changesText(session, number, json, styleFor(host.stdout))
      : promptText(session.events, number, session.resolve, json),
  );
}

function changesText(session: Session, number: number, json: boolean, style: Style): string {
  const calls = new ModelCalls(new TraceIndex(session.events));
  const start = calls.at(number);
  if (start === undefined) throw noSuchCall(number, calls.count);
  const before = calls.before(start);
  if (before === undefined)
    throw new UsageError({ reason: `Model call ${number} is the first one of ${start.agent}.` });
  const [former, now] = [before, start].map(({ seq }) =>
    allParts(promptSections(promptOf(session, seq))),
  ) as [readonly PromptPart[], readonly PromptPart[]];
  const { added, removed } = promptChanges(former, now);
  if (json) {
    const parts = (some: Iterable<PromptPart>): object[] =>
      [...some].map(({ name, text }) => ({ name, text }));
    const seqs = { seq: start.seq, before: before.seq };
    return jsonLine({ ...seqs, added: parts(added), removed: parts(removed) });
  }
  const line = (sign: string, { name, text, line: short = text }: PromptPart): string =>
    `${sign} ${plainLine(name)}  ${shorten(plainLine(short), longestPart)}`;
  const lines = [
    style.bold(headline(start, before)),
    ...removed.map((part) => style.red(line('-', part))),
    ...[...added].map((part) => style.green(line('+', part))),
  ];
  return `${lines.join('\n')}\n`;
}

function headline(start: EventOf<'model_start'>, before: EventOf<'model_start'>): string {
  const { seq, model, round } = start;
  return plainLine(`#${seq} ${model} · round ${round} · compared with #${before.seq}`);
}
