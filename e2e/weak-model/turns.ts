import type { Event } from 'adjutant';
import { keys, takesKeys } from '../../packages/cli/test/terminal/kit/keys.ts';
import type { PseudoTerminal } from '../../packages/cli/test/terminal/kit/pseudo-terminal.ts';
import { expect } from '../expectation.ts';
import { faultsOf, only } from './ledger-checks.ts';
import type { Manner, ModelServer } from './model-server.ts';
import type { Protocol, ShopBench } from './shop-bench.ts';

/** A text that is still being written when a key comes, however fast the machine is. */
const endless = (begins: string): Manner => ({
  ...{ begins, isEndless: true, maxTokens: 600, temperature: 0.7 },
});
/** Too few tokens for the end of a call. */
const cutCall: Manner = {
  begins: 'Thought: I look it up.\nAction: {"tool": "price", "arguments": {"item": "',
  maxTokens: 1,
};

interface Place {
  readonly bench: ShopBench;
  readonly server: ModelServer;
  readonly terminal: PseudoTerminal;
}

/** Says something, or nothing and Enter, and waits for the request to the model. */
async function say({ terminal, server }: Place, text: string, ...manners: readonly Manner[]) {
  server.next(...manners);
  const asked = server.asked();
  terminal.write(`${text}${keys.enter}`);
  return asked;
}

async function ended({ bench, terminal }: Place, what: string): Promise<readonly Event[]> {
  const events = await bench.ended(terminal);
  const faults = faultsOf(events);
  expect(`${what}: nothing is left open`, faults.length === 0, faults.join('\n'));
  return events;
}

const lastEnd = (events: readonly Event[]) => only(events, 'invocation_end').at(-1)?.status;
const lastResult = (events: readonly Event[]) => only(events, 'tool_result').at(-1);

/** Turns 1 to 4: an answer, a call, a call that asks first, a call that cannot be read. */
async function calls(place: Place): Promise<void> {
  const { terminal, bench } = place;
  await say(place, 'Say hello in one short sentence.');
  const answered = await ended(place, '1 a plain answer');
  expect('1 the run has ended', lastEnd(answered) === 'completed');

  await say(place, 'What does a pen cost?', { form: 'call', tool: 'price' });
  const called = await ended(place, '2 a call');
  expect('2 the call went well', lastResult(called)?.result.status === 'success');

  await say(place, 'Order a pen.', { form: 'call', tool: 'order' });
  await takesKeys(terminal);
  const waiting = only(await bench.ledger(), 'tool_yield');
  expect('3 the call waits', waiting.length === 1);
  terminal.write('y');
  await place.server.asked();
  const ordered = await ended(place, '3 a call that asks first');
  expect('3 the call went well', lastResult(ordered)?.result.status === 'success');

  await say(place, 'What does a book cost?', { form: 'loose call', tool: 'price' });
  const loose = await ended(place, '4 a call with free text for arguments');
  expect(
    '4 the call was not made, and the model was told',
    lastResult(loose)?.result.status !== 'success' &&
      only(loose, 'model_start').at(-1)?.round === 2,
    JSON.stringify(lastResult(loose)),
  );
}

/** Turns 5 to 7: a message while it works, and Esc in silence, in an answer and in a call. */
async function interrupts(place: Place): Promise<void> {
  const { terminal, server } = place;
  await say(place, 'Tell me of pens.', { ...endless('Pens, as I know,'), maxTokens: 24 });
  await terminal.showsNow('Pens, as I know');
  terminal.write(`And about books.${keys.enter}`);
  await terminal.showsNow('stored');
  const both = await ended(place, '5 a message while it works');
  expect('5 the message is recorded', only(both, 'user').at(-1)?.text === 'And about books.');

  await say(place, 'Tell me a long story.', { form: 'silence' });
  await terminal.showsNow('Esc interrupts');
  terminal.write(keys.escape);
  const silent = await ended(place, '6 Esc in a long wait');
  expect('6 the run waits', silent.at(-1)?.type === 'invocation_yield');
  const telling = await say(place, '', endless('Once upon a time'));
  await terminal.showsNow('Once upon a time');
  terminal.write(keys.escape);
  const cut = await ended(place, '6 Esc in a long answer');
  const kept = only(cut, 'assistant').at(-1);
  expect(
    '6 the cut answer is what was said until then',
    kept?.cut === true && kept.text !== '' && telling.sent.startsWith(kept.text.trimEnd()),
    JSON.stringify([kept, telling.sent]),
  );
  await say(place, '');
  const goneOn = await ended(place, '6 the run goes on');
  expect('6 the run has ended', lastEnd(goneOn) === 'completed');

  await say(place, 'Count the pens.', { form: 'call', tool: 'count' });
  await terminal.showsNow(/count (pen|book)/);
  terminal.write(keys.escape);
  await terminal.showsNow('Stops after a call');
  terminal.write(keys.escape);
  const cancelled = await ended(place, '7 Esc Esc in a call');
  expect('7 the run was cancelled', lastEnd(cancelled) === 'cancelled');
  server.next();
}

/** Turn 8: left in the middle of an answer. */
async function left(place: Place): Promise<number> {
  const { terminal } = place;
  await say(place, 'Tell me about books.', endless('Books, as all know,'));
  await terminal.showsNow('Books, as all know');
  terminal.write(keys.ctrl('c'));
  await terminal.showsNow('Press ^C again to leave');
  terminal.write(keys.ctrl('c'));
  return terminal.exited;
}

/** Turn 9: what the model writes is read as actions. */
async function written(place: Place): Promise<void> {
  const wild: Manner = { begins: 'Action: {"tool": "pri', temperature: 1.4, maxTokens: 24 };
  const before = (await place.bench.ledger()).length;
  await say(place, 'And what does a pen cost?', cutCall, wild);
  const events = (await ended(place, '9 actions that cannot be read')).slice(before);
  const [call] = only(events, 'tool_call');
  expect('9 the cut action is a call', call?.name === 'unreadable_action', JSON.stringify(call));
  expect('9 it was not made', only(events, 'tool_result')[0]?.result.status !== 'success');
  const told = JSON.stringify(place.server.answered.slice(-2).map(({ request }) => request));
  expect('9 the model was told', told.includes('could not be read'), told);
}

export async function tenTurns(bench: ShopBench, server: ModelServer): Promise<void> {
  const open = async (protocol: Protocol): Promise<Place> => ({
    ...{ bench, server },
    terminal: await bench.open(protocol),
  });
  const first = await open('native');
  await calls(first);
  await interrupts(first);
  await left(first);

  const second = await open('native');
  await say(second, '');
  const back = await ended(second, '8 left in the middle of an answer, and back');
  expect('8 the run has ended', lastEnd(back) === 'completed');
  expect('8 the app ends by itself', (await bench.leave(second.terminal)) === 0);

  const third = await open('text');
  await written(third);
  await say(third, 'Tell me about ink.', endless('Final Answer: Ink, as all know,'));
  await third.terminal.showsNow('Ink, as all know');
  third.terminal.kill('SIGKILL');
  await third.terminal.exited;

  const fourth = await open('text');
  await say(fourth, '', { breaksAfter: 3 });
  const goneOn = await ended(fourth, '10 killed in the middle of an answer, and back');
  expect('10 the run has ended', lastEnd(goneOn) === 'completed');
  expect('10 the app ends by itself', (await bench.leave(fourth.terminal)) === 0);
}

/** Commands that read the session of all these turns. */
export async function readBack(bench: ShopBench): Promise<void> {
  const { length } = await bench.ledger();
  const sessions = await bench.sessions();
  expect('all turns are one session', sessions.length === 1);
  const [session = ''] = sessions;
  for (const args of [
    ['replay', session],
    ['explain', session],
    ['explain', session, '--for', 'auditor'],
    ['show', session, '--events'],
    ['export', session],
  ]) {
    const ran = bench.run('text', ...args);
    expect(`adjutant ${args.join(' ')}`, ran.code === 0, ran.output);
  }
  expect('reading has written nothing', (await bench.ledger()).length === length);
}
