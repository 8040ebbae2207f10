import { modelFromEnvironment } from 'adjutant';
import type { ProjectFlags } from '../../app/project.ts';
import { readEnvFile } from '../../host/env-file.ts';
import type { Host } from '../../host/host.ts';
import { ownCommand } from '../../host/own-name.ts';
import { type LocalModels, localModels } from './local-models.ts';
import type { StartQuestions } from './start-questions.ts';

/** The way in which the agent of the command line thinks: a model, or the rehearsal model. */
export type ModelAnswer =
  | { readonly kind: 'environment' | 'rehearse' }
  | { readonly kind: 'named'; readonly model: string };

const keyNames = ['OPENAI_API_KEY', 'GEMINI_API_KEY', 'ANTHROPIC_API_KEY'] as const;
const howToSet = `Write the line ${keyNames[0]}=… into .env, then press Enter.`;

/** Asks how the agent is to think, where no model is set up. Keys are never typed into the app. */
export async function askModel(
  questions: StartQuestions,
  host: Host,
  flags: ProjectFlags,
): Promise<ModelAnswer> {
  for (;;) {
    const local = await localModels(host.env);
    const answer = await questions.ask('No model is set up. How shall the agent think?', [
      { words: 'Use a provider', more: keyNames.join(', '), value: 'provider' },
      { words: 'Use a local server', more: wordsOf(local), value: 'local' },
      { words: 'Rehearse', more: 'free, offline: rules, not a language model', value: 'rehearse' },
      {
        words: 'Make a project',
        more: `${ownCommand('init')}: config, agent, tool, test, eval`,
        value: 'init',
      },
    ]);
    if (answer === 'rehearse') return { kind: 'rehearse' };
    if (answer === 'init') await leaveForInit(questions);
    if (answer === 'provider') {
      readEnvFile(host, flags);
      if (modelFromEnvironment(host.env) !== undefined) return { kind: 'environment' };
      questions.say(howToSet);
    }
    if (answer === 'local') {
      const model = await localModel(questions, local);
      if (model !== undefined) return { kind: 'named', model };
    }
  }
}

/** Makes no project by itself: it is begun in a folder that a person names. */
async function leaveForInit(questions: StartQuestions): Promise<never> {
  questions.say(`Make a project with: ${ownCommand('init my-agent')}`);
  questions.leave();
  return new Promise<never>(() => undefined);
}

function wordsOf({ address, names }: LocalModels): string {
  return names.length === 0
    ? `none answers at ${address}`
    : `ollama answers here: ${names.join(', ')}`;
}

async function localModel(
  questions: StartQuestions,
  { address, names, modelName }: LocalModels,
): Promise<string | undefined> {
  const [first, ...others] = names;
  if (first === undefined) {
    questions.say(
      `No local server answers at ${address}. Start one (ollama serve), then press Enter.`,
    );
    return undefined;
  }
  if (others.length === 0) return modelName(first);
  const answers = names.map((name) => ({ words: name, value: name }));
  return modelName(await questions.ask('Which of its models?', answers));
}
