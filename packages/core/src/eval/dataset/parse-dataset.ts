import { isAdkCase, readAdkCase } from './adk-shape.ts';
import { InvalidDatasetError } from './errors.ts';
import type { Dataset, EvalCase } from './eval-case.ts';
import { readCase, readScenario } from './own-shape.ts';
import { Place } from './place.ts';

const deepest = 200;

/**
 * A dataset from a document: `{ name, cases }`, an eval set of the ADK (`{ eval_set_id, eval_cases
 * }`), scenarios of simulated users (`{ scenarios }`), a list of cases of any of these shapes, or
 * one case.
 * @param source names the document in messages. @default 'given'
 * @throws InvalidDatasetError
 */
export function parseDataset(document: unknown, source = 'given'): Dataset {
  const depth = depthOf(document);
  if (depth > deepest)
    throw new InvalidDatasetError({
      source,
      path: '$',
      reason: `it is nested ${depth} deep, and at most ${deepest} is read`,
    });
  const place = new Place(document, source);
  const dataset = { ...readDocument(place), source };
  refuseDuplicates(dataset.cases, source);
  return dataset;
}

function readDocument(place: Place): Omit<Dataset, 'source'> {
  if (place.isList) return { cases: readCases(place) };
  place.object();
  if (place.has('eval_cases', 'evalCases')) {
    return {
      ...place.member('eval_set_id', 'evalSetId', 'name').optional('name', (name) => name.text()),
      ...described(place),
      cases: readCases(place.member('eval_cases', 'evalCases')),
    };
  }
  if (place.has('cases')) {
    place.only(['name', 'description', 'cases', 'source']);
    return {
      ...place.member('name').optional('name', (name) => name.filledText()),
      ...described(place),
      cases: readCases(place.member('cases')),
    };
  }
  if (place.has('scenarios'))
    return { cases: readCases(place.only(['scenarios']).member('scenarios')) };
  return { cases: [readOne(place, 0)] };
}

function described(place: Place): Pick<Dataset, 'description'> {
  return place.member('description').optional('description', (text) => text.text());
}

function readCases(place: Place): readonly EvalCase[] {
  return place.list().map(readOne);
}

function readOne(place: Place, index: number): EvalCase {
  place.object();
  if (isAdkCase(place)) return readAdkCase(place);
  if (place.has('starting_prompt', 'startingPrompt')) return scenarioCase(place, index);
  return readCase(place);
}

/** A scenario by itself has no id: its place in the list is its name. */
function scenarioCase(place: Place, index: number): EvalCase {
  return {
    id: `scenario-${index + 1}`,
    tags: [],
    turns: [],
    scenario: readScenario(place),
    approvals: [],
    expect: {},
    metadata: {},
  };
}

function refuseDuplicates(cases: readonly EvalCase[], source: string): void {
  const places = new Map<string, number>();
  for (const [index, { id }] of cases.entries()) {
    const before = places.get(id);
    if (before !== undefined) {
      throw new InvalidDatasetError({
        source,
        path: `cases ${before + 1} and ${index + 1}`,
        reason: `both have the id "${id}"; give each one of its own`,
      });
    }
    places.set(id, index);
  }
}

/**
 * Returns the depth of a document, without recursion: what is too deep must not overflow the stack.
 */
function depthOf(document: unknown): number {
  let depth = 0;
  let level: unknown[] = [document];
  while (level.length > 0 && depth <= deepest) {
    // Each once: a value that is in many places would be counted by the million.
    level = [...new Set(level.flatMap(partsOf))];
    depth++;
  }
  return depth;
}

function partsOf(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return [];
  return Object.values(value).filter((part) => typeof part === 'object' && part !== null);
}
