import { questionSpans } from '../card/question.ts';
import { requestBody } from '../card/request-body.ts';
import { isForm } from '../card/request-form.ts';
import { keysOf } from '../card/request-keys.ts';
import { standingChoices } from '../card/standing-choices.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import type { Space } from '../screens/layout.ts';
import type { GivenDecision } from '../session/conversation.ts';
import { textOfLine } from '../text/spans.ts';
import { type Ask, chosen, numbered } from './ask.ts';
import { askForm } from './ask-form.ts';
import { spoken } from './words.ts';

/** The reply of a person to a request: an answer, a message to the agent, or nothing. */
export type Said =
  | { readonly kind: 'answer'; readonly given: GivenDecision }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'later' };

interface Option {
  readonly words: string;
  readonly give: () => Promise<GivenDecision | undefined>;
}

/** Asks a request as a numbered question, with all that it is about. */
export async function askRequest(
  request: OpenRequest,
  ask: Ask,
  { space, now }: { readonly space: Space; readonly now: number },
): Promise<Said> {
  const options = optionsOf(request, ask);
  const about = textOfLine(questionSpans(request, now));
  const line = await ask(
    `Question #${request.seq}: ${about}`,
    ...requestBody(request, space).map(spoken),
    ...numbered(options.map(({ words }) => words)),
    'Type a number, or a message to the agent.',
  );
  if (line === undefined || line.trim() === '') return { kind: 'later' };
  const option = options[chosen(line, options.length) ?? -1];
  if (option === undefined) return { kind: 'message', text: line };
  const given = await option.give();
  return given === undefined ? { kind: 'later' } : { kind: 'answer', given };
}

function optionsOf(request: OpenRequest, ask: Ask): readonly Option[] {
  const { options } = request.details;
  const form = async (decision: 'answer' | 'edit'): Promise<GivenDecision | undefined> => {
    const input = await askForm(request, ask);
    return input === undefined ? undefined : { decision, input };
  };
  const always = standingChoices(request);
  return [
    ...(isForm(request) ? [{ words: 'answer', give: () => form('answer') }] : []),
    ...keysOf(request).map(({ words, decision }) => ({
      words,
      give: async () => (decision === 'reject' ? refusal(ask) : { decision }),
    })),
    ...(options.includes('edit') && !isForm(request)
      ? [{ words: 'change the arguments', give: () => form('edit') }]
      : []),
    ...always.map(({ words, always: extent }) => ({
      words: `allow, and without asking in this session: ${words}`,
      give: async () => ({ decision: 'approve' as const, always: extent }),
    })),
  ];
}

async function refusal(ask: Ask): Promise<GivenDecision | undefined> {
  const line = await ask('Why? An empty line gives no reason.');
  if (line === undefined) return undefined;
  const reason = line.trim();
  return { decision: 'reject', ...(reason === '' ? {} : { reason }) };
}
