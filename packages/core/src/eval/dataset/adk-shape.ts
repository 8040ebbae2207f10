import { defined } from '../../base/defined.ts';
import type { JsonObject } from '../../base/json.ts';
import type { EvalCase, EvalTurn, Expectation, ExpectedToolCall } from './eval-case.ts';
import { readId, readPatternObject, readScenario } from './own-shape.ts';
import type { Place } from './place.ts';

/**
 * Checks that a value is a case of the ADK's eval sets. Their members are written in snake or in
 * camel case.
 */
export function isAdkCase(place: Place): boolean {
  return place.has(
    'eval_id',
    'evalId',
    'conversation',
    'conversation_scenario',
    'conversationScenario',
  );
}

/** The members that are read. All others are kept as metadata of the case, for custom scorers. */
const known = new Set([
  'eval_id',
  'evalId',
  'conversation',
  'conversation_scenario',
  'conversationScenario',
  'session_input',
  'sessionInput',
  'final_session_state',
  'finalSessionState',
]);

/** A case of the ADK's eval sets. */
export function readAdkCase(place: Place): EvalCase {
  const input = place.member('session_input', 'sessionInput');
  const scenario = place.member('conversation_scenario', 'conversationScenario');
  const conversation = place.member('conversation');
  const finalState = place.member('final_session_state', 'finalSessionState');
  const state = input.isGiven ? input.member('state') : undefined;
  return {
    id: readId(place.member('eval_id', 'evalId')),
    tags: [],
    ...(scenario.isGiven && !conversation.isGiven
      ? { turns: [], scenario: readScenario(scenario) }
      : { turns: readTurns(conversation) }),
    ...(state?.isGiven === true && Object.keys(state.object()).length > 0
      ? { state: state.jsonObject() }
      : {}),
    ...(input.isGiven
      ? input.member('user_id', 'userId').optional('userId', (id) => id.filledText())
      : {}),
    approvals: [],
    expect:
      finalState.isGiven && Object.keys(finalState.object()).length > 0
        ? { state: finalState.jsonObject() }
        : {},
    metadata: metadataOf(place),
  };
}

function metadataOf(place: Place): JsonObject {
  const rest = Object.keys(place.object()).filter((name) => !known.has(name));
  return Object.fromEntries(rest.map((name) => [name, place.member(name).json()]));
}

function readTurns(conversation: Place): readonly EvalTurn[] {
  const turns = conversation.list().map(readInvocation);
  return turns.length === 0 ? conversation.refuse('at least one invocation is needed') : turns;
}

function readInvocation(place: Place): EvalTurn {
  const content = place.member('user_content', 'userContent');
  const user = readContent(content);
  if (user === undefined || user.trim() === '')
    return content.refuse('the user says nothing: a text, or `parts` with a text, is needed');
  const tools = readToolUses(place.member('intermediate_data', 'intermediateData'));
  const final = place.member('final_response', 'finalResponse');
  const response = final.isGiven ? readContent(final) : undefined;
  const expect: Expectation = {
    ...defined({ tools }),
    ...(response === undefined || response.trim() === '' ? {} : { response }),
  };
  return { user, ...(Object.keys(expect).length === 0 ? {} : { expect }) };
}

/** A text, or the texts of `{ parts: [{ text }] }`. */
function readContent(place: Place): string | undefined {
  if (typeof place.value === 'string') return place.value;
  const parts = place.member('parts');
  if (!parts.isGiven) return undefined;
  const texts = parts.list().flatMap((part) => {
    const text = part.member('text');
    if (text.isGiven) return [text.text()];
    const other = Object.keys(part.object()).find(
      (name) => part.member(name).isGiven && name !== 'thought',
    );
    return other === undefined
      ? []
      : part.refuse(`only text can be read, and this part has \`${other}\``);
  });
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** The expected calls: `tool_uses`, or those of `invocation_events`. */
function readToolUses(data: Place): readonly ExpectedToolCall[] | undefined {
  if (!data.isGiven) return undefined;
  const uses = data.member('tool_uses', 'toolUses');
  if (uses.isGiven) return uses.list().map(readToolUse);
  const events = data.member('invocation_events', 'invocationEvents');
  if (!events.isGiven) return undefined;
  return events.list().flatMap((event) => {
    const content = event.member('content');
    const parts = content.isGiven ? content.member('parts') : undefined;
    if (parts?.isGiven !== true) return [];
    const calls = parts.list().map((part) => part.member('function_call', 'functionCall'));
    return calls.filter((call) => call.isGiven).map(readToolUse);
  });
}

function readToolUse(place: Place): ExpectedToolCall {
  const args = place.member('args');
  return {
    name: place.member('name').filledText(),
    args: args.isGiven ? readPatternObject(args) : {},
  };
}
