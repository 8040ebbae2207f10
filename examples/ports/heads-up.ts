/** Port of `examples/heads-up-game` of mastra. */
import { DatabaseSync } from 'node:sqlite';
import { agent, runtime, type StateSchema, step } from 'adjutant';
import { loggingMiddleware } from 'adjutant/middleware';
import { sqlite } from 'adjutant/sqlite';
import { z } from 'zod';
import { gameMaster, personInventor, verifier } from './models.ts';

const games = new DatabaseSync('games.db');
games.exec('CREATE TABLE IF NOT EXISTS heads_up_games (key UNIQUE, person, won, guesses)');
const insert = games.prepare('INSERT OR IGNORE INTO heads_up_games VALUES (?, ?, ?, ?)');

const famousPersonAgent = agent({
  name: 'Famous Person Generator',
  model: personInventor({ temperature: 1.2, topP: 0.9 }),
  instructions: `You think of famous people for a "Heads Up" guessing game.

Give the name of a person who:
- is known to nearly everybody
- can be told from others by yes/no questions
- suits players of any age
- has a name that means one person only

NEVER give a person who was given before; you are told who that was.

Such as: Albert Einstein, Beyoncé, Leonardo da Vinci, Oprah Winfrey, Michael Jordan

Give the name and nothing else.`,
});

const guessVerifierAgent = agent({
  name: 'Guess Verifier',
  model: verifier(),
  instructions: `You check guesses in a "Heads Up" guessing game.

You are told a person and a guess, and decide whether the guess means that person.

Count as right:
- the exact name, or a part that is enough ("Einstein" for "Albert Einstein")
- nicknames and other usual forms
- other spellings, and slips of the keyboard

Be strict but fair: it is right only when it is clearly the same person.`,
  output: z.object({ isCorrect: z.boolean() }),
});

const gameAgent = agent({
  name: 'Game Agent',
  model: gameMaster(),
  instructions: `You lead a "Heads Up" guessing game.

CRITICAL: you know who the famous person is, and NEVER give the name away.

To a question about the person:
- answer truthfully, short and friendly
- NEVER say the name, however natural it would be
- NEVER tell sex, nationality or other traits that were not asked for
- answer yes/no questions with a clear "Yes" or "No"
- give the same answer to the same question in other words
- ask what is meant where it is not clear
- let them ask one thing at a time

To a guess:
- right: congratulate warmly
- wrong: say so politely, and encourage them to go on

When they seem to know enough, encourage them to guess.`,
});

const stateSchema = { user: { people: z.array(z.string()) } } satisfies StateSchema;

export const headsUp = step({
  name: 'heads-up-workflow',
  stateSchema,
  execute: async (ctx) => {
    const given = ctx.state.user.people ?? [];
    const start = await ctx.call(famousPersonAgent, {
      message: `Give the name of a famous person. Given before: ${given.join(', ')}`,
    });
    if (start.output === undefined) return ctx.fail('No person was found');
    const famousPerson = start.output.trim();
    ctx.state.user.people = [...given, famousPerson];
    let agentResponse = 'I think of a famous person. Ask yes/no questions, and find out who it is!';
    for (let guessCount = 1; ; guessCount++) {
      const userMessage = await ctx.ask(`question ${guessCount}`, agentResponse);
      const verified = await ctx.call(guessVerifierAgent, {
        message: `Person: ${famousPerson}\nGuess: "${userMessage}"\nIs this right?`,
      });
      if (verified.output === undefined) return ctx.fail('The guess could not be checked');
      const gameWon = verified.output.isCorrect;
      const said = await ctx.call(gameAgent, {
        message: `Person: ${famousPerson}\nThe user: "${userMessage}"\nA right guess: ${gameWon}`,
      });
      if (said.output === undefined) return ctx.fail('There is no answer');
      agentResponse = said.output;
      if (!gameWon) continue;
      await ctx.effect('save', ({ idempotencyKey }) => {
        insert.run(idempotencyKey, famousPerson, 1, guessCount);
      });
      return ctx.complete({ famousPerson, gameWon, guessCount });
    }
  },
});

export const app = runtime({
  app: 'heads-up',
  store: sqlite('heads-up.db'),
  runnables: [headsUp],
  middleware: [loggingMiddleware()],
});
