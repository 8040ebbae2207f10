import { defined, visibleJson } from 'adjutant/text';
import { readAnswer } from '../../actions/given-value.ts';
import type { AppControl, SlashCommand } from '../app/control.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import type { GivenDecision, Standing } from '../session/conversation.ts';
import { endingOf } from '../session/workplace.ts';

/** The request that words begin with, as `#41`, else the oldest; and the words behind it. */
function asked(
  app: AppControl,
  words: string,
): { readonly request: OpenRequest | undefined; readonly rest: string } {
  const [, number, rest = ''] = /^#?(\d+)(?:\s+(.*))?$/s.exec(words) ?? [];
  const { requests } = app.feed;
  if (number === undefined) return { request: requests[0], rest: words };
  return { request: requests.find(({ seq }) => seq === Number(number)), rest };
}

async function decide(
  app: AppControl,
  words: string,
  decision: 'approve' | 'reject',
): Promise<void> {
  const { request, rest } = asked(app, words);
  if (request === undefined) {
    app.note({ sign: 'note', tone: 'plain', text: 'Nothing waits for that.' });
    return;
  }
  if (!request.details.options.includes(decision)) {
    const text = `#${request.seq} takes ${request.details.options.join(', ')}.`;
    app.note({ sign: 'failed', tone: 'failure', text });
    return;
  }
  const given: GivenDecision = rest === '' ? { decision } : { decision, reason: rest };
  await app.conversation.answer(request.requestId, given);
}

const approve: SlashCommand = {
  name: 'approve',
  words: '[#]',
  summary: 'let a call be made',
  run: (app, words) => decide(app, words, 'approve'),
};

const reject: SlashCommand = {
  name: 'reject',
  words: '[#] [why]',
  summary: 'do not let it be made; the model is told',
  run: (app, words) => decide(app, words, 'reject'),
};

/** The calls that a standing approval covers, in words. */
function coveredWords({ tool, covers }: Standing): string {
  if (covers === 'tool') return `every ${tool}`;
  return covers === 'call' ? `${tool}: one call` : `every ${tool} below ${covers.below}/`;
}

const always: SlashCommand = {
  name: 'always',
  words: '[remove n]',
  summary: 'what is allowed without asking in this session; takes one back',
  async run(app, words) {
    const standing = await app.conversation.standing();
    const say = (text: string): void => app.note({ sign: 'note', tone: 'plain', text });
    const [, number] = /^remove (\d+)$/.exec(words) ?? [];
    if (number === undefined) {
      for (const [at, one] of standing.entries()) say(`${at + 1}  ${coveredWords(one)}`);
      if (standing.length === 0) say('Nothing is allowed without asking in this session.');
      return;
    }
    const taken = standing[Number(number) - 1];
    if (taken === undefined) {
      app.note({ sign: 'failed', tone: 'failure', text: `There is none with number ${number}.` });
      return;
    }
    await app.conversation.withdraw(taken.id);
    say(`Taken back, and asked about again: ${coveredWords(taken)}`);
  },
};

const approvals: SlashCommand = {
  name: 'approvals',
  words: '',
  summary: 'what waits for people, in all sessions',
  async run(app) {
    const waiting = await app.workplace.listRequests();
    const say = (text: string): void => app.note({ sign: 'asks', tone: 'attention', text });
    for (const { session, summary } of waiting) say(`${summary}  ${endingOf(session)}`);
    if (waiting.length === 0)
      app.note({ sign: 'note', tone: 'plain', text: 'Nothing waits for anybody.' });
  },
};

const answer: SlashCommand = {
  name: 'answer',
  words: '[#] [words]',
  summary: 'answer a question in words; shown before it counts',
  run(app, words) {
    const { request, rest } = asked(app, words);
    if (request === undefined) {
      app.note({ sign: 'note', tone: 'plain', text: 'Nothing waits for that.' });
      return;
    }
    if (rest === '' || !request.details.options.includes('answer')) {
      app.enterRequest();
      return;
    }
    const { requestId, kind, details } = request;
    const asks = { requestId, kind, ...defined({ inputSchema: details.inputSchema }) };
    const { input = null } = readAnswer(asks, { decision: 'answer', value: rest }, () => '/answer');
    const act = (): Promise<void> =>
      app.conversation.answer(requestId, { decision: 'answer', input });
    app.choose(`Answer #${request.seq} with ${visibleJson(input)}?`, [
      {
        text: 'Yes, that is the answer',
        line: [{ text: 'Yes, that is the answer' }],
        take: () => void act().catch((error: unknown) => app.fail(error)),
      },
      {
        text: 'No, change it',
        line: [{ text: 'No, change it' }],
        take: () => app.compose(`/answer #${request.seq} ${rest}`),
      },
    ]);
  },
};

const retry: SlashCommand = {
  name: 'retry',
  words: '',
  summary: 'ask again after a run failed',
  async run(app) {
    if (app.feed.runState === 'failed') await app.conversation.retry();
    else app.note({ sign: 'note', tone: 'plain', text: 'Nothing failed.' });
  },
};

const cancel: SlashCommand = {
  name: 'cancel',
  words: '[why]',
  summary: 'end the run',
  async run(app, words) {
    const isOpen = app.feed.runState !== 'idle' && app.feed.runState !== 'failed';
    if (isOpen) await app.conversation.cancel(words === '' ? undefined : words);
    else app.note({ sign: 'note', tone: 'plain', text: 'Nothing runs.' });
  },
};

/** Commands that answer what waits, and end runs. */
export const answerCommands: readonly SlashCommand[] = [
  approvals,
  approve,
  reject,
  answer,
  always,
  cancel,
  retry,
];
