import { excerpt } from './event-words.ts';
import type { Evidence, Explanation } from './explanation.ts';

const mostEvidence = 3;
const mostDecisions = 3;

const verbs: Readonly<
  Record<Exclude<Explanation['status'], 'waiting'> | NonNullable<Explanation['waitsFor']>, string>
> = {
  completed: 'came to this answer',
  error: 'could not finish',
  cancelled: 'was cancelled',
  tool_input: 'waits for an answer',
  input: 'waits for a message; it said last',
  pause: 'is paused; its last step',
  sleeping: 'sleeps until',
  running: 'is still at work; its last step',
};

/** An explanation as one paragraph of plain text, for people who know nothing of runs. */
export function paragraphOf(explanation: Explanation): string {
  const { agent, requests = [], status, waitsFor = 'tool_input', conclusion } = explanation;
  const isSeveral = requests.length > 1;
  const verb = isSeveral
    ? `waits for ${requests.length} answers`
    : verbs[status === 'waiting' ? waitsFor : status];
  const said = isSeveral
    ? joined(requests.map(({ what }) => quoted(what)))
    : quoted(conclusion ?? 'nothing was said');
  const sentences = [
    ended(`${excerpt(agent)} ${verb}: ${said}`),
    ...beginningSentences(explanation),
    evidenceSentence(explanation),
    ...decisionSentences(explanation),
    ...doubtSentences(explanation),
  ];
  return sentences.join(' ');
}

function beginningSentences({ began }: Explanation): readonly string[] {
  if (began === undefined) return [];
  const { firing, trigger, why } = began;
  return [
    `The trigger ${quoted(trigger)} began it (firing ${excerpt(firing)}), because ${excerpt(why)}.`,
  ];
}

function evidenceSentence({ evidence }: Explanation): string {
  const tools = evidence.filter(({ source }) => source.startsWith('tool '));
  if (tools.length === 0) return answersSentence(evidence);
  const shown = tools.slice(-mostEvidence).map(found);
  const more = tools.length - shown.length;
  const others = more === 0 ? '' : `, and ${more} more`;
  return `It rests on ${joined(shown)}${others}.`;
}

function answersSentence(evidence: readonly Evidence[]): string {
  const answers = evidence.filter(({ source }) => source === 'answer').slice(-mostEvidence);
  if (answers.length === 0) return 'No tool gave anything for it.';
  const said = answers.map(({ result }) => quoted(result));
  return `It rests on what people answered: ${ended(joined(said))}`;
}

function found({ source, result }: Evidence): string {
  return `what the ${source} gave (${quoted(result)})`;
}

function decisionSentences({ decisions }: Explanation): readonly string[] {
  return [...new Set(decisions.map(({ what }) => excerpt(what)))].slice(0, mostDecisions);
}

function doubtSentences({ confidence, limitations }: Explanation): readonly string[] {
  const count = limitations.length;
  return [
    ...(confidence === undefined
      ? []
      : [`It is not certain: the confidence in it is ${confidence} of 1.`]),
    ...(count === 0
      ? []
      : [`${count === 1 ? 'One thing' : `${count} things`} did not work or may be doubted.`]),
  ];
}

function joined(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** A sentence with a full stop, unless the quotation at its end has one. */
function ended(sentence: string): string {
  return /[.!?…]”$/.test(sentence) ? sentence : `${sentence}.`;
}

function quoted(value: unknown): string {
  return `“${excerpt(value)}”`;
}
