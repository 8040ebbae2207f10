import type {
  CaseExpectation,
  EvalApproval,
  EvalCase,
  EvalScenario,
  EvalTurn,
  Expectation,
  ExpectedResponse,
  ExpectedToolCall,
  ValuePattern,
} from './eval-case.ts';
import type { Place } from './place.ts';
import { readExpression, readPattern } from './value-pattern.ts';

const caseMembers = [
  'id',
  'description',
  'tags',
  'input',
  'data',
  'turns',
  'scenario',
  'state',
  'userId',
  'approvals',
  'expect',
  'metadata',
] as const;
const defaultMaxTurns = 10;

/** A case as `EvalCaseInput` has it. */
export function readCase(place: Place): EvalCase {
  place.only(caseMembers);
  return {
    id: readId(place.member('id')),
    ...place.member('description').optional('description', (text) => text.text()),
    tags: readTags(place.member('tags')),
    ...readConversation(place),
    ...place.member('data').optional('data', (data) => data.json()),
    ...place.member('state').optional('state', (state) => state.jsonObject()),
    ...place.member('userId').optional('userId', (id) => id.filledText()),
    approvals: readApprovals(place.member('approvals')),
    expect: place.member('expect').isGiven ? readCaseExpectation(place.member('expect')) : {},
    metadata: place.member('metadata').isGiven ? place.member('metadata').jsonObject() : {},
  };
}

const longestId = 200;

export function readId(place: Place): string {
  const id = place.filledText();
  return id.length <= longestId
    ? id
    : place.refuse(`an id has at most ${longestId} characters, and this one ${id.length}`);
}

function readTags(place: Place): readonly string[] {
  return place.isGiven ? place.list().map((tag) => tag.filledText()) : [];
}

/** Reads the user's part: one of `input`, `turns` and `scenario`. */
function readConversation(place: Place): Pick<EvalCase, 'turns' | 'scenario'> {
  const [input, turns, scenario] = [
    place.member('input'),
    place.member('turns'),
    place.member('scenario'),
  ];
  const hasTurns =
    turns.isGiven && !(turns.isList && turns.list().length === 0 && scenario.isGiven);
  const given = [
    input.isGiven && 'input',
    hasTurns && 'turns',
    scenario.isGiven && 'scenario',
  ].filter((name) => name !== false);
  if (given.length === 0)
    place.refuse('what the user says is missing: one of `input`, `turns` and `scenario`');
  if (given.length > 1)
    place.refuse(
      `it has \`${given.join('` and `')}\`, and only one of them can say what the user says`,
    );
  if (scenario.isGiven) return { turns: [], scenario: readScenario(scenario) };
  if (input.isGiven) return { turns: [{ user: input.filledText() }] };
  const read = turns.list().map(readTurn);
  return { turns: read.length === 0 ? turns.refuse('at least one turn is needed') : read };
}

function readTurn(place: Place): EvalTurn {
  if (typeof place.value === 'string') return { user: place.filledText() };
  place.only(['user', 'expect']);
  return {
    user: place.member('user').filledText(),
    ...place.member('expect').optional('expect', readTurnExpectation),
  };
}

/** A simulated user, written in camel case or as the ADK does. */
export function readScenario(place: Place): EvalScenario {
  place.only([
    'startingPrompt',
    'starting_prompt',
    'conversationPlan',
    'conversation_plan',
    'maxTurns',
    'max_turns',
  ]);
  const maxTurns = place.member('maxTurns', 'max_turns');
  return {
    startingPrompt: place.member('startingPrompt', 'starting_prompt').filledText(),
    conversationPlan: place.member('conversationPlan', 'conversation_plan').filledText(),
    maxTurns: maxTurns.isGiven ? maxTurns.count() : defaultMaxTurns,
  };
}

function readTurnExpectation(place: Place): Expectation {
  place.only(['tools', 'response']);
  return readExpectation(place);
}

function readCaseExpectation(place: Place): CaseExpectation {
  place.only(['tools', 'response', 'state']);
  return {
    ...readExpectation(place),
    ...place.member('state').optional('state', readPatternObject),
  };
}

function readExpectation(place: Place): Expectation {
  return {
    ...place.member('tools').optional('tools', (tools) => tools.list().map(readTool)),
    ...place.member('response').optional('response', readResponse),
  };
}

/** An object whose members are patterns. */
export function readPatternObject(place: Place): {
  readonly [key: string]: ValuePattern | undefined;
} {
  place.object();
  return readPattern(place) as { readonly [key: string]: ValuePattern | undefined };
}

function readTool(place: Place): ExpectedToolCall {
  if (typeof place.value === 'string') return { name: place.filledText() };
  place.only(['name', 'args', 'match']);
  return {
    name: place.member('name').filledText(),
    ...place.member('args').optional('args', readPatternObject),
    ...place.member('match').optional('match', (match) => match.oneOf('exact', 'partial')),
  };
}

function readResponse(place: Place): ExpectedResponse {
  if (typeof place.value === 'string') return place.filledText();
  if (place.value instanceof RegExp)
    place.refuse('a regular expression goes into `matches`: { matches: /…/ }');
  place.only(['equals', 'contains', 'excludes', 'matches', 'flags']);
  const matches = place.member('matches');
  const flags = place.member('flags');
  if (matches.isGiven && !(matches.value instanceof RegExp)) readExpression(matches, flags);
  else if (flags.isGiven) flags.refuse('flags belong to a text in `matches`');
  const response = {
    ...place.member('equals').optional('equals', (text) => text.text()),
    ...place.member('contains').optional('contains', readTexts),
    ...place.member('excludes').optional('excludes', readTexts),
    ...matches.optional('matches', ({ value }) => value as string | RegExp),
    ...flags.optional('flags', (text) => text.text()),
  };
  if (Object.keys(response).length === 0)
    place.refuse('one of `equals`, `contains`, `excludes` and `matches` is needed');
  return response;
}

function readTexts(place: Place): string | readonly string[] {
  return place.isList ? place.list().map((text) => text.filledText()) : place.filledText();
}

function readApprovals(place: Place): readonly EvalApproval[] {
  if (!place.isGiven) return [];
  if (!place.isList) return [{ decision: place.oneOf('approve', 'reject') }];
  return place.list().map((approval) => {
    approval.only(['tool', 'decision', 'input', 'reason']);
    const decision = approval.member('decision').oneOf('approve', 'reject', 'edit', 'answer');
    const input = approval.member('input');
    if ((decision === 'edit' || decision === 'answer') && input.value === undefined)
      approval.refuse(`\`input\` is missing, which "${decision}" needs`);
    if ((decision === 'approve' || decision === 'reject') && input.value !== undefined)
      input.refuse(`"${decision}" takes no input`);
    return {
      decision,
      ...approval.member('tool').optional('tool', (tool) => tool.filledText()),
      ...(input.value === undefined ? {} : { input: input.json() }),
      ...approval.member('reason').optional('reason', (reason) => reason.text()),
    };
  });
}
