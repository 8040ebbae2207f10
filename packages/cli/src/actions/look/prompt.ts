import type { EventOf, Session } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { inspectPrompt, type PromptSectionChange } from 'adjutant/views';
import { UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import type { SourceOptions } from '../../modules/ledger-source.ts';
import { formatCount, formatTokens, shorten } from '../../output/format.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine } from '../../output/plain-text.ts';
import { type Style, styleFor } from '../../output/style.ts';
import { tableLines } from '../../output/table.ts';
import { ModelCalls } from '../../tui/prompt/model-calls.ts';
import { promptChanges } from '../../tui/prompt/prompt-changes.ts';
import { allParts, type PromptPart, promptSections } from '../../tui/prompt/prompt-sections.ts';
import { TraceIndex } from '../../tui/trace/trace-index.ts';
import { lookAt, noSuchCall, promptText } from '../show.ts';

export interface PromptCommandOptions extends SourceOptions {
  /** True to show only what changed since the call before. */
  readonly diff?: boolean;
  /** True to show the sections with their tokens. */
  readonly sections?: boolean;
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
  const { diff = false, sections = false, json = false } = options;
  const style = styleFor(host.stdout);
  return lookAt(host, id, options, (session) => {
    if (sections) return sectionsText(session, number, json, style);
    return diff
      ? changesText(session, number, json, style)
      : promptText(session.events, number, session.resolve, json);
  });
}

function sectionsText(session: Session, number: number, json: boolean, style: Style): string {
  const calls = session.events.filter(({ type }) => type === 'model_start');
  const { seq } = calls[number - 1] ?? {};
  if (seq === undefined) throw noSuchCall(number, calls.length);
  const prompt = inspectPrompt(session, seq);
  if (json) return jsonLine(prompt);
  const { model, round, tokens, sections, previous, dropped } = prompt;
  const rows = sections.map(({ name, title, tokens: count, share }) => {
    const change = previous?.diff.find(({ section }) => section === name);
    const percent = `${Math.round(share * 100)} %`;
    return [title, formatTokens(count), percent, change === undefined ? '' : changeText(change)];
  });
  const gone = (previous?.diff ?? [])
    .filter(({ kind }) => kind === 'gone')
    .map((change) => [change.title, '0', '0 %', changeText(change)]);
  const count = (dropped?.events ?? []).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const compared = previous === undefined ? '' : ` · compared with #${previous.seq}`;
  const head = `#${seq} ${model} · round ${round} · ${formatTokens(tokens)} tokens${compared}`;
  const lines = [
    style.bold(plainLine(head)),
    ...tableLines(['section', 'tokens', 'share', 'change'], [...rows, ...gone], { right: [1, 2] }),
    ...(count === 0 ? [] : [`${formatCount(count, 'event')} of the ledger left out`]),
  ];
  return `${lines.join('\n')}\n`;
}

function changeText({ kind, tokens: { before, after } }: PromptSectionChange): string {
  if (kind === 'same' || kind === 'changed') return kind;
  return `${kind} ${after < before ? '-' : '+'}${formatTokens(Math.abs(after - before))}`;
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
