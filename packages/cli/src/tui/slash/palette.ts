import type { SessionListing } from 'adjutant';
import { formatMoment } from '../../output/format.ts';
import type { AppControl, Choice, SlashCommand } from '../app/control.ts';
import { lineSpans, spread } from '../screens/layout.ts';
import { endingOf, type WaitingRequest } from '../session/workplace.ts';
import type { Line } from '../text/spans.ts';

/** Sessions that the palette has. */
const mostSessions = 50;

/** Opens the list of all that can be opened, answered or done, found by a few characters. */
export async function openPalette(
  app: AppControl,
  commands: readonly SlashCommand[],
): Promise<void> {
  const [requests, sessions] = await Promise.all([
    app.workplace.listRequests(),
    app.workplace.listSessions(''),
  ]);
  app.choose('^P', [
    ...requests.map((request) => requestChoice(app, request)),
    ...commands.map((command) => commandChoice(app, command)),
    ...agentChoices(app),
    ...sessions
      .filter(({ id }) => id !== app.conversation.session)
      .slice(0, mostSessions)
      .map((listing) => openChoice(app, listing)),
  ]);
}

function requestChoice(app: AppControl, { session, summary }: WaitingRequest): Choice {
  const take = (): void => {
    if (session === app.conversation.session) app.enterRequest();
    else void app.command('resume', session);
  };
  return choice(`Answer  ${summary}`, ['waits', endingOf(session)], take);
}

function commandChoice(app: AppControl, { name, words, summary }: SlashCommand): Choice {
  const needsWords = words !== '' && !words.startsWith('[');
  const take = (): void => {
    if (needsWords) app.compose(`/${name} `);
    else void app.command(name, '');
  };
  return choice(`/${name}  ${summary}`, words === '' ? [] : [words], take);
}

function agentChoices(app: AppControl): readonly Choice[] {
  const { agent, agents } = app.workplace;
  return agents
    .filter(({ name }) => name !== agent.name)
    .map(({ name, description = '' }) =>
      choice(`Agent ${name}  ${description}`, [], () => void app.command('agent', name)),
    );
}

function openChoice(app: AppControl, { id, title = id, updatedAt }: SessionListing): Choice {
  const when = formatMoment(updatedAt, Date.now());
  const take = (): void => void app.command('resume', id);
  return choice(`Session "${title}"`, [when, endingOf(id)], take, id);
}

function choice(
  text: string,
  facts: readonly string[],
  take: () => void,
  alsoFoundBy: string = '',
): Choice {
  const left: Line = lineSpans(text);
  return {
    text: `${text} ${alsoFoundBy}`,
    line: (space) => spread(left, { facts }, space),
    take,
  };
}
