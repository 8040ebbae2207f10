import type { AppControl } from '../app/control.ts';
import { lineSpans, spread } from '../screens/layout.ts';
import type { ModelOutline } from '../session/workplace.ts';

/** Lets a person choose the model, or type the name of another one. */
export function pickModel(app: AppControl, models: readonly ModelOutline[]): void {
  const { model: present } = app.workplace.agent;
  const use = (name: string): void =>
    void chooseModel(app, name).catch((error: unknown) => app.fail(error));
  app.choose(
    'model',
    models.map(({ name, facts }) => ({
      text: name,
      line: (space) =>
        spread(lineSpans(name), { facts: [...facts, ...(name === present ? ['now'] : [])] }, space),
      take: () => use(name),
    })),
    {
      keys: 'type to filter, or a full name · Enter: for this session · Esc close',
      typed: use,
    },
  );
}

/** Chooses the model that answers from the next message on. */
export async function chooseModel(app: AppControl, name: string): Promise<void> {
  await app.workplace.chooseModel(name);
  const { agent } = app.workplace;
  const when = app.isWorking ? ' from the next message on' : '';
  const text = `${agent.name} thinks with ${name}${when}`;
  app.note({ sign: 'model', tone: 'plain', text });
}
